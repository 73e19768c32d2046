/** The composition root: agent + store + Temporal → a running worker. */
import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { NativeConnection, Runtime, type WorkflowBundleOption } from '@temporalio/worker'
import { createActivities } from './activities/index.ts'
import { LastChance } from './activities/step/last-chance.ts'
import { createLiveWriter } from './activities/live-writer.ts'
import { keepCounting } from './worker/keep-counting.ts'
import { tellLiveness } from './worker/liveness-news.ts'
import { countableOf, createMetrics } from './activities/metrics.ts'
import { createRightStore, type RightStore } from './activities/session/right-store.ts'
import type { Running } from './activities/step/in-flight.ts'
import { SessionConfigs } from './activities/session/session-configs.ts'
import { ToolUses } from './activities/tool/tool-uses.ts'
import { keepTakingOver, workerIdentity } from './worker/take-over.ts'
import type { StelloAgent } from './agent/agent.ts'
import { StelloError, messageOf } from './core/errors.ts'
import { keepSecret, withoutKnownIn, withoutSecrets } from './core/secrets.ts'
import { sessionTools } from './agent/tool-list.ts'
import { bundleWorkflows } from './worker/bundle-workflows.ts'
import { checkNodeVersion } from './worker/node-version.ts'
import { registerSearchAttributes } from './client/search-attributes.ts'
import { readinessOf, type WorkerParts } from './worker/readiness.ts'
import { installRuntime } from './worker/runtime.ts'
import { checkDatabase, openDatabase, type Database } from './store/database.ts'
import { proveDirect } from './store/direct.ts'
import { readIdentity } from './store/identity.ts'
import { holdLiveness, newBootId } from './store/liveness.ts'
import { updateIndexes } from './store/indexes.ts'
import { checkSchema, migrate } from './store/migrate.ts'
import { createNotifier } from './store/notifier.ts'
import { saveAgent } from './store/agents.ts'
import { TranscriptCache } from './store/transcript-cache.ts'
import { enterWorker, leaveWorker } from './store/workers.ts'
import { createTemporalWorkers, type Concurrency } from './worker/temporal-workers.ts'
import { startWatchdog } from './worker/watchdog.ts'

export type { Concurrency }

checkNodeVersion()

const GRACE_MS = 10_000
const STALL_LIMIT_MS = 30_000

/** What a worker serves, where, and within which limits. */
export interface StelloWorkerOptions {
  /** The agent it serves. */
  agent: StelloAgent
  /** `postgresql://…` */
  databaseUrl: string
  /** `host:port` of Temporal. */
  temporalAddress: string
  /** Temporal's namespace. Default `default`. */
  namespace?: string
  /** TLS and API key, as `@temporalio/envconfig` gives them. */
  connection?: { tls?: boolean | object; apiKey?: string; metadata?: Record<string, string> }
  /** How long running steps may go on after a stop was asked for, milliseconds. Default 10 s. */
  shutdownGraceMs?: number
  /** Workflows kept in memory. Default 200; 0 replays every task (tests). */
  maxCachedWorkflows?: number
  /** Model calls and tools that run at once. */
  concurrency?: Concurrency
  /**
   * How long the event loop may stand still, milliseconds: a tool that blocks it lets nothing else run, not even its own
   * time-out. Then the process is killed. Default 30 s, 0 = for ever; not while a debugger can be attached (`--inspect`).
   */
  stallLimitMs?: number
  /**
   * Serves Prometheus metrics, Temporal's and its own (`/metrics`), whether the process lives (`/healthz`), and whether its
   * workers can work (`/readyz`). Unset: none. One port per process.
   */
  metricsPort?: number
  /** The address they are served on; there is no sign-in. Default 127.0.0.1; `0.0.0.0` for all interfaces. */
  metricsHost?: string
  /** Brings the store's schema up to date at the start. Default true; false: ends with an error where that is needed. */
  migrate?: boolean
  /** Where it reports what it does. Default: the console. */
  log?: WorkerLog
}

/** Where a worker reports what it does. Secrets are cut before. */
export interface WorkerLog {
  /** What happened as it should. */
  info(message: string, meta?: Record<string, unknown>): void
  /** What somebody should look at. */
  warn(message: string, meta?: Record<string, unknown>): void
}

/** A running worker. */
export interface StelloWorker {
  /** Resolves when the worker has stopped; rejects when it cannot go on: with WRONG_STORE when it is on the wrong store. */
  readonly stopped: Promise<void>
  /** Temporal's task queue, which is the agent's name. */
  readonly taskQueue: string
  /**
   * Stops the worker: what runs is finished within `shutdownGraceMs`, or handed over to other workers.
   *
   * @example process.once('SIGTERM', () => void worker.stop())
   */
  stop(): Promise<void>
}

/**
 * Starts a worker for an agent: migrates the store, registers search attributes, takes over what dead workers left.
 *
 * @throws StelloError DATABASE_UNREACHABLE, also behind a pooler in transaction mode; SERVER_UNREACHABLE
 * @example
 * const worker = await startWorker({ agent, databaseUrl, temporalAddress: '127.0.0.1:7233' })
 * process.once('SIGTERM', () => worker.stop())
 * await worker.stopped
 */
export async function startWorker(options: StelloWorkerOptions): Promise<StelloWorker> {
  const { agent, databaseUrl, namespace = 'default' } = options
  keepSecret(...agent.redact, options.connection?.apiKey)
  const log = discreet(options.log ?? console)
  const health = await installRuntime(options.metricsPort, options.metricsHost)
  const metrics = createMetrics(Runtime.instance().metricMeter.withTags({ agent: agent.name }), countableOf(agent))
  const closing: (() => Promise<void> | void)[] = []
  const close = async (): Promise<void> => {
    for (const step of closing.reverse())
      await Promise.resolve(step()).catch((error: unknown) => log.warn(messageOf(error)))
  }
  let parts: WorkerParts | undefined
  if (health) closing.push(health.add(() => readinessOf(agent.name, parts)))
  try {
    const bootId = newBootId()
    const transcripts = new TranscriptCache()
    const configs = new SessionConfigs()
    let rightStore: RightStore | undefined
    let misplaced: (why: StelloError) => void = () => undefined
    const whyMisplaced = new Promise<StelloError>((resolve) => (misplaced = resolve))

    await proveDirect(databaseUrl)
    // Before the pools take theirs: there may be few.
    const tell = tellLiveness({ log, metrics })
    const liveness = await holdLiveness(databaseUrl, bootId, (change, held) => {
      transcripts.clear()
      configs.clear()
      tell(change, held)
      if (change.kind === 'lost' && !held) rightStore?.doubt()
      if (change.kind === 'back') void rightStore?.lookAgain()
    })
    closing.push(() => liveness.release())
    const db = openDatabase(databaseUrl, { max: 20 })
    closing.push(() => db.close())
    await checkDatabase(db)
    if (options.migrate === false) await checkSchema(db)
    else await bringUpToDate(db, log)
    const identity = await readIdentity(db)
    const notifier = createNotifier(db)
    closing.push(() => notifier.close())
    const live = createLiveWriter(db, (id) => notifier.notify(id, 'progress'), log, metrics.liveQueue)
    closing.push(() => live.close())

    const toolUses = new ToolUses((message) => log.warn(message))
    closing.push(() => toolUses.close())

    const connection = await connectNative(options)
    closing.push(() => connection.close())
    const clientConnection = await Connection.connect({ address: options.temporalAddress, ...toConnection(options) })
    closing.push(() => clientConnection.close())
    const client = new Client({ connection: clientConnection, namespace })
    await registerSearchAttributes(client, log)
    const { foreign } = metrics
    const store = createRightStore({ db, client, agent: agent.name, identity, wrong: misplaced, foreign, log })
    rightStore = store

    // Whatever was registered until now counts, and nothing later.
    agent.seal()
    const running: Running = new Map()
    const stopping = new AbortController()
    // Every result that waits for the store listens.
    setMaxListeners(0, stopping.signal)
    const watchdog = startWatchdog(options.stallLimitMs ?? STALL_LIMIT_MS, (message) => log.warn(message))
    closing.push(() => watchdog.stop())
    const graceMs = options.shutdownGraceMs ?? GRACE_MS
    const pollsAs = workerIdentity(hostname(), process.pid, bootId)
    const workers = await createTemporalWorkers({
      connection,
      namespace,
      agent: agent.name,
      identity: pollsAs,
      activities: createActivities(
        {
          agent,
          db,
          client,
          bootId,
          liveness: { held: () => liveness.held() && store.certain() },
          live,
          log,
          transcripts,
          configs,
          running,
          stopping: stopping.signal,
          lastChance: new LastChance(),
          stepWatch: watchdog,
          toolUses,
          metrics,
          notify: (id, news) => notifier.notify(id, news),
        },
        store,
      ),
      workflowBundle: await workflowBundle(),
      concurrency: options.concurrency ?? {},
      graceMs,
      ...(options.maxCachedWorkflows !== undefined && { maxCachedWorkflows: options.maxCachedWorkflows }),
    })
    for (const warning of agent.warnings) log.warn(warning)
    await saveAgent(db, agent.name, manifestOf(agent))
    const self = { bootId, agent: agent.name, namespace }
    await enterWorker(db, self)
    let broken = false
    // Whatever broke it may have been a step: others are to find it dead, with what it had in hand.
    closing.push(() => (broken ? undefined : leaveWorker(db, bootId)))
    const stopTakingOver = keepTakingOver(db, client, self, log, { tookOver: metrics.tookOver })
    closing.push(stopTakingOver)
    if (options.metricsPort !== undefined) closing.push(keepCounting(db, self, metrics))
    parts = { agent: agent.name, identity: pollsAs, db, liveness, client, workers, stopping: false }
    const ready = parts
    let graceOver: NodeJS.Timeout | undefined
    let ended = false
    let wrongStore: StelloError | undefined
    const stopped = workers
      .run()
      .catch((error: unknown) => {
        broken = true
        throw error
      })
      .finally(() => {
        ended = true
        clearTimeout(graceOver)
        return close()
      })
      .then(() => {
        if (wrongStore) throw wrongStore
      })
    stopped.catch(() => undefined)
    const stop = async (): Promise<void> => {
      if (ended) return stopped
      ready.stopping = true
      workers.shutdown()
      // Temporal does not tell an attempt that it has given up before, e.g. of a terminated workflow.
      graceOver ??= setTimeout(() => {
        stopping.abort()
        running.forEach((step) => step.stop.abort('shutdown'))
      }, graceMs)
      await stopped
    }
    void whyMisplaced.then((why) => {
      wrongStore = why
      stop().catch(() => undefined)
    })
    return { stopped, taskQueue: agent.name, stop }
  } catch (error) {
    await close()
    throw error
  }
}

/** Without its indexes the store works too: who keeps them from being built is not waited for long. */
async function bringUpToDate(db: Database, log: WorkerLog): Promise<void> {
  await migrate(db)
  for (const [index, why] of await updateIndexes(db))
    log.warn(`index ${index} is not brought up to date yet: ${why}; \`stello migrate\` does it`)
}

function discreet(log: WorkerLog): WorkerLog {
  return {
    info: (message, meta) => log.info(withoutSecrets(message), withoutKnownIn(meta)),
    warn: (message, meta) => log.warn(withoutSecrets(message), withoutKnownIn(meta)),
  }
}

/** Waits a moment for a server that is just starting. */
async function connectNative(options: StelloWorkerOptions): Promise<NativeConnection> {
  const address = options.temporalAddress
  for (let attempt = 1; ; attempt++) {
    try {
      return await NativeConnection.connect({ address, ...toConnection(options) })
    } catch (error) {
      if (attempt < 5) await delay(200 * attempt)
      else {
        throw new StelloError('SERVER_UNREACHABLE', `Temporal at ${address} does not answer: ${messageOf(error)}`, {
          hint: 'start it (`stello server` brings one), or correct TEMPORAL_ADDRESS',
          cause: error,
        })
      }
    }
  }
}

function toConnection({ connection = {} }: StelloWorkerOptions): object {
  return connection
}

/** The package carries the bundle; a checkout bundles its sources, once per process. */
async function workflowBundle(): Promise<WorkflowBundleOption> {
  const prebuilt = fileURLToPath(new URL('./workflow-bundle.js', import.meta.url))
  if (existsSync(prebuilt)) return { codePath: prebuilt }
  return bundleWorkflows(new URL('./workflows', import.meta.url))
}

function manifestOf(agent: StelloAgent): { profiles: string[]; tools: string[]; skills: string[] } {
  return {
    profiles: [...agent.profiles.keys()],
    tools: sessionTools(agent, { tools: 'agent' }).names,
    skills: [...agent.skills.keys()],
  }
}
