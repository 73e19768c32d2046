/**
 * Everything that serves an agent around Temporal's Workers: the store, the lock that shows that this worker lives, the
 * activities, and the take-over of steps that dead workers left. It is opened before the first Worker polls and closed
 * after the last one has stopped.
 */
import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import type { Client } from '@temporalio/client'
import { noopMetricMeter } from '@temporalio/common'
import { Runtime } from '@temporalio/worker'
import { createActivities } from '../activities/index.ts'
import { createLiveWriter } from '../activities/live-writer.ts'
import { countableOf, createMetrics, type Metrics } from '../activities/metrics.ts'
import { Gates } from '../activities/model/gates.ts'
import { tellOutages } from './outage-news.ts'
import { createRightStore, type RightStore } from '../activities/session/right-store.ts'
import { SessionConfigs } from '../activities/session/session-configs.ts'
import type { Running } from '../activities/step/in-flight.ts'
import { LastChance } from '../activities/step/last-chance.ts'
import { KeptInstances } from '../activities/tool/kept-instances.ts'
import type { StelloAgent } from '../agent/agent.ts'
import { missingKeys } from './missing-keys.ts'
import { sessionTools } from '../agent/tool-list.ts'
import { registerSearchAttributes } from '../temporal/register-search-attributes.ts'
import type { StelloError } from '../core/errors.ts'
import type { SessionActivities } from '../protocol/session-activities.ts'
import { checkDatabase, openDatabase, type Database } from '../store/database/database.ts'
import { proveDirect } from '../store/database/direct.ts'
import { readIdentity } from '../store/database/identity.ts'
import { updateIndexes } from '../store/schema/indexes.ts'
import { holdLiveness, newBootId, type Liveness } from '../store/ledger/liveness.ts'
import { checkSchema, migrate } from '../store/schema/migrate.ts'
import { createNotifier, type Notifier } from '../store/database/notifier.ts'
import { saveAgent } from '../store/sessions/served-agents.ts'
import { TranscriptCache } from '../store/transcript/transcript-cache.ts'
import { enterWorker, leaveWorker, type KnownWorker } from '../store/ledger/workers.ts'
import { enterHost } from '../store/sessions/workspace-owners.ts'
import { OpenedParts } from './opened-parts.ts'
import type { Readiness } from './health.ts'
import { keepCounting } from './keep-counting.ts'
import { openPacks } from './open-packs.ts'
import { tellLiveness } from './liveness-news.ts'
import { readinessOf } from './readiness.ts'
import { keepTakingOver, workerIdentity } from './take-over.ts'
import type { TemporalWorkers } from './temporal-workers.ts'
import { startWatchdog } from './watchdog.ts'

const STALL_LIMIT_MS = 30_000
/** Connections in each pool of a worker to its store. The two connections that hold its lock come in addition. */
const POOL_SIZE = 20

/** Where a worker reports what it does. Secrets are cut before they get here. */
export interface WorkerLog {
  /** Something happened as expected. */
  info(message: string, meta?: Record<string, unknown>): void
  /** Something that somebody should look at. */
  warn(message: string, meta?: Record<string, unknown>): void
}

export interface ServingOptions {
  agent: StelloAgent
  databaseUrl: string
  /** A client of Temporal. It is not closed here. */
  client: Client
  stallLimitMs?: number | undefined
  migrate?: boolean | undefined
  log: WorkerLog
}

export interface Serving {
  /** The name of the Workers in Temporal. */
  readonly identity: string
  /** The host whose working folders it has. Unset: its agent has none. */
  readonly host?: string
  readonly activities: SessionActivities
  /** Resolves when the worker finds out that it uses the wrong store. */
  readonly misplaced: Promise<StelloError>
  /**
   * The plugin calls it when the Workers exist and will poll soon. From now on others may find this worker, and it takes over
   * steps.
   */
  enter(workers: TemporalWorkers): Promise<void>
  readiness(): Promise<Readiness>
  /** Stops the running steps: the time that they had to end is over. */
  hurry(): void
  /** @param broken a step may have broken the worker, so others must find it dead, with the steps that it held */
  close(broken: boolean): Promise<void>
}

/**
 * @throws StelloError DATABASE_UNREACHABLE, also behind a pooler in transaction mode. Nothing stays open after an
 *   error
 */
export async function openServing(options: ServingOptions): Promise<Serving> {
  const closing = new OpenedParts(options.log)
  try {
    return await open(options, closing)
  } catch (error) {
    await closing.run()
    throw error
  }
}

async function open(options: ServingOptions, closing: OpenedParts): Promise<Serving> {
  const { agent, client, log } = options
  const { namespace } = client.options
  const metrics = createMetrics(Runtime.instance().metricMeter.withTags({ agent: agent.name }), countableOf(agent))
  const bootId = newBootId()
  const transcripts = new TranscriptCache()
  const configs = new SessionConfigs()
  let rightStore: RightStore | undefined
  const store = await openStore({ ...options, bootId, metrics }, closing, {
    changed() {
      transcripts.clear()
      configs.clear()
    },
    lost: () => rightStore?.doubt(),
    back: () => void rightStore?.lookAgain(),
  })
  const { db, liveness, notifier } = store
  const notify = notifier.notify.bind(notifier)
  const live = closing.add(
    createLiveWriter(db, { notify: (id) => notify(id, 'progress'), log, queued: metrics.liveQueue }),
    (each) => each.close(),
  )
  const keptInstances = closing.add(new KeptInstances((message) => log.warn(message)), (each) => each.close())
  await registerSearchAttributes(client, log)
  await openPacks(agent.packs, closing)
  const host = await agent.workspaces?.host()

  let wrong: (why: StelloError) => void = () => undefined
  const misplaced = new Promise<StelloError>((resolve) => (wrong = resolve))
  const { identity } = store
  const { foreign } = metrics
  const admitting = createRightStore({ db, client, agent: agent.name, identity, wrong, foreign, log })
  rightStore = admitting

  const running: Running = new Map()
  const stopping = new AbortController()
  // No limit, because every result that waits for the store is a listener.
  setMaxListeners(0, stopping.signal)
  const stepWatch = closing.add(
    startWatchdog(options.stallLimitMs ?? STALL_LIMIT_MS, (message) => log.warn(message)),
    (each) => each.stop(),
  )
  const activities = createActivities(
    {
      agent,
      db,
      client,
      bootId,
      liveness: { held: () => liveness.held() && admitting.certain() },
      live,
      log,
      transcripts,
      configs,
      running,
      stopping: stopping.signal,
      lastChance: new LastChance(),
      gates: new Gates({ longestWaitMs: agent.waits.retryForMs, told: tellOutages({ log, metrics }) }),
      stepWatch,
      keptInstances,
      ...(host !== undefined && { host }),
      metrics,
      notify,
    },
    admitting,
  )
  const self = { bootId, agent: agent.name, namespace }
  const pollsAs = workerIdentity(hostname(), process.pid, bootId)
  let polling: TemporalWorkers | undefined
  let broken = false
  return {
    identity: pollsAs,
    ...(host !== undefined && { host }),
    activities,
    misplaced,
    async enter(workers) {
      for (const warning of [...agent.warnings, ...missingKeys(agent)]) log.warn(warning)
      await saveAgent(db, agent.name, manifestOf(agent))
      const enter = async (): Promise<void> => {
        await enterWorker(db, self)
        if (host !== undefined) await enterHost(db, bootId, { host, capacity: agent.workspaces?.capacity ?? null })
      }
      await keepEntered({ db, client, self, log, metrics, enter, isBroken: () => broken }, closing)
      polling = workers
    },
    readiness: () =>
      readinessOf(
        agent.name,
        polling && { agent: agent.name, identity: pollsAs, db, liveness, client, workers: polling },
      ),
    hurry() {
      // Temporal does not tell an attempt to stop if it gave the attempt up earlier, e.g. after its workflow was
      // terminated.
      stopping.abort()
      running.forEach((step) => step.stop.abort('shutdown'))
    },
    async close(isBroken) {
      broken = isBroken
      await closing.run()
    },
  }
}

interface Entering {
  db: Database
  client: Client
  self: KnownWorker
  log: WorkerLog
  metrics: Metrics
  /** Puts this worker into the list of workers. */
  enter(): Promise<void>
  /** Then this worker stays in the list, so that others find it dead. */
  isBroken(): boolean
}

/** The worker is in the list until it stops. It takes over the steps of those that are in it and dead. */
async function keepEntered(entering: Entering, closing: OpenedParts): Promise<void> {
  const { db, self, metrics, enter, isBroken } = entering
  await enter()
  closing.add(db, () => (isBroken() ? undefined : leaveWorker(db, self.bootId)))
  closing.add(keepTakingOver({ ...entering, tookOver: metrics.tookOver }), (stop) => stop())
  if (metricsAreRead()) closing.add(keepCounting(db, self, metrics), (stop) => stop())
}

interface OpenedStore {
  db: Database
  liveness: Liveness
  notifier: Notifier
  identity: string | undefined
}

interface StoreNews {
  /** A connection that holds the lock came or went. Perhaps this is another store now. */
  changed(): void
  /** No connection holds the lock any more. */
  lost(): void
  back(): void
}

async function openStore(
  options: ServingOptions & { bootId: string; metrics: Metrics },
  closing: OpenedParts,
  news: StoreNews,
): Promise<OpenedStore> {
  const { databaseUrl, bootId, metrics, log } = options
  await proveDirect(databaseUrl)
  // The lock gets its connections before the pools, because the server may have few.
  const tell = tellLiveness({ log, metrics })
  const liveness = closing.add(
    await holdLiveness(databaseUrl, bootId, (change, held) => {
      news.changed()
      tell(change, held)
      if (change.kind === 'lost' && !held) news.lost()
      if (change.kind === 'back') news.back()
    }),
    (each) => each.release(),
  )
  const db = closing.add(openDatabase(databaseUrl, { max: POOL_SIZE }), (each) => each.close())
  await checkDatabase(db)
  if (options.migrate === false) await checkSchema(db)
  else await bringUpToDate(db, log)
  const identity = await readIdentity(db)
  const notifier = closing.add(createNotifier(db), (each) => each.close())
  return { db, liveness, notifier, identity }
}

/** The store works without its indexes too, so a transaction that blocks them is not waited for long. */
async function bringUpToDate(db: Database, log: WorkerLog): Promise<void> {
  await migrate(db)
  for (const [index, why] of await updateIndexes(db))
    log.warn(`index ${index} is not brought up to date yet: ${why}; \`stello migrate\` does it`)
}

/** Counting costs questions to the store. It is useless if the runtime serves no metrics. */
function metricsAreRead(): boolean {
  return Runtime.instance().metricMeter !== noopMetricMeter
}

function manifestOf(agent: StelloAgent): { profiles: string[]; tools: string[]; skills: string[] } {
  return {
    profiles: [...agent.profiles.keys()],
    tools: sessionTools(agent, { tools: 'agent' }).names,
    skills: [...agent.skills.keys()],
  }
}
