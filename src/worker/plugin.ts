/**
 * Stello as a plugin of a Temporal Worker: the one that serves the task queue of an agent. It adds the workflow of the
 * sessions and their activities to the Worker's own, and runs two Workers more beside it, for tools and for short work with
 * the store. Data converter, interceptors and connection are the Worker's.
 */
import { Client } from '@temporalio/client'
import type { WorkerOptions, WorkerPlugin, Worker } from '@temporalio/worker'
import type { StelloAgent } from '../agent/agent.ts'
import { StelloError } from '../core/errors.ts'
import { keepSecret, withoutKnownIn, withoutSecrets } from '../core/secrets.ts'
import { toMs } from '../core/duration.ts'
import { POOLS } from '../protocol/task-queues.ts'
import { bundleStelloWorkflows, type WorkflowSources } from './bundle-workflows.ts'
import type { Readiness } from './health.ts'
import { openServing, type Serving, type WorkerLog } from './serving.ts'
import { besideModels, poolsOf, WORKFLOW_TASKS, type Concurrency, type Pools } from './temporal-workers.ts'

const GRACE_MS = 10_000
const CACHED_WORKFLOWS = 200

/** What a worker serves, and within which limits. */
export interface StelloPluginOptions {
  /** The agent it serves. */
  agent: StelloAgent
  /** `postgresql://…` */
  databaseUrl: string
  /** Model calls and tools that run at once. */
  concurrency?: Concurrency | undefined
  /**
   * How long the event loop may stand still, milliseconds: a tool that blocks it lets nothing else run, not even its own
   * time-out. Then the process is killed. Default 30 s, 0 = for ever; not while a debugger can be attached (`--inspect`).
   */
  stallLimitMs?: number | undefined
  /** Brings the store's schema up to date at the start. Default true; false: ends with an error where that is needed. */
  migrate?: boolean | undefined
  /** Where it reports what it does. Default: the console. */
  log?: WorkerLog | undefined
}

/** Makes a Temporal Worker serve an agent. */
export interface StelloPlugin extends WorkerPlugin {
  /** The name of the plugin, as Temporal lists it. */
  readonly name: 'stello'
  /**
   * What keeps the worker from working, for a health check of your own. `problems` is empty when nothing does.
   *
   * @example const { problems } = await plugin.readiness()
   */
  readiness(): Promise<Readiness>
  /**
   * Closes what the plugin has opened. Needed only when `Worker.create` has failed after this plugin and the process goes
   * on: a Worker that ran closes it itself.
   *
   * @example
   * const worker = await Worker.create({ connection, taskQueue: agent.name, plugins: [plugin] }).catch(async (error) => {
   *   await plugin.close()
   *   throw error
   * })
   */
  close(): Promise<void>
}

interface Configured {
  serving: Serving
  pools: Pools
  shared: Omit<WorkerOptions, 'taskQueue'>
  graceMs: number
}

/**
 * A plugin for one Worker. Put it last in `plugins`, so that it sees what others have set. Of the Worker's options it
 * sets identity, slots of activities, heartbeats and the bundle; `shutdownGraceTime` (default 10 s) says how long
 * running steps may go on. The store is opened by `Worker.create` and closed when the Worker has stopped.
 *
 * @throws by `Worker.create`: StelloError INVALID_ARGUMENT for options that contradict each other,
 *   DATABASE_UNREACHABLE; by `worker.run()`: WRONG_STORE when it turns out to be on the wrong store
 * @example
 * const worker = await Worker.create({
 *   connection, taskQueue: agent.name, workflowsPath, activities, dataConverter,
 *   plugins: [stelloPlugin({ agent, databaseUrl })],
 * })
 * await worker.run()
 */
export function stelloPlugin(options: StelloPluginOptions): StelloPlugin {
  keepSecret(...options.agent.redact)
  const log = discreet(options.log ?? console)
  let configured: Configured | undefined
  let running = false
  const close = async (broken = false): Promise<void> => {
    const { serving } = configured ?? {}
    configured = undefined
    await serving?.close(broken)
  }
  return {
    name: 'stello',
    async configureWorker(given) {
      if (configured) throw refused('this plugin has a worker already', 'make one for each worker')
      checkWorker(given, options.agent)
      // Entries that were registered until now count, later ones do not.
      options.agent.seal()
      const workflowBundle = given.workflowBundle ?? (await bundleStelloWorkflows(sourcesOf(given)))
      const client = clientOf(given)
      const serving = await openServing({ ...options, client, log })
      configured = { serving, ...configure(given, { serving, ...options }) }
      const { pools, shared } = configured
      const { workflowsPath: _bundled, bundlerOptions: _known, ...rest } = given
      return {
        maxCachedWorkflows: CACHED_WORKFLOWS,
        maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS,
        // How long a killed worker's sticky queue is still tried (Temporal's default: 10 s). Two hundred busy sessions on two cores
        // wait for more than a second for their decisions, and each decision that waits too long is a replay.
        stickyQueueScheduleToStartTimeout: '3s',
        ...rest,
        ...shared,
        ...pools.models,
        activities: { ...given.activities, ...pools.models.activities },
        workflowBundle,
      }
    },
    async configureReplayWorker(given) {
      const { workflowsPath: _bundled, bundlerOptions: _known, ...rest } = given
      return { ...rest, workflowBundle: given.workflowBundle ?? (await bundleStelloWorkflows(sourcesOf(given))) }
    },
    async runWorker(worker, next) {
      if (!configured || running) throw refused('this plugin has no worker that waits to run', 'create one with it')
      running = true
      let broken = true
      try {
        await serve(configured, worker, next)
        broken = false
      } finally {
        running = false
        await close(broken)
      }
    },
    readiness: () =>
      configured?.serving.readiness() ?? Promise.resolve({ agent: options.agent.name, problems: ['it is starting'] }),
    close: () => close(),
  }
}

async function serve(
  { serving, pools, shared, graceMs }: Configured,
  models: Worker,
  next: (worker: Worker) => Promise<void>,
): Promise<void> {
  let graceOver: NodeJS.Timeout | undefined
  const { connection } = models
  const workers = await besideModels(
    { models, runModels: () => next(models), pools },
    { ...shared, ...(connection && { connection }) },
    () => (graceOver = setTimeout(serving.hurry, graceMs)),
  )
  await serving.enter(workers)
  let wrongStore: StelloError | undefined
  void serving.misplaced.then((why) => {
    wrongStore = why
    workers.shutdown()
  })
  try {
    await workers.run()
  } finally {
    clearTimeout(graceOver)
  }
  if (wrongStore) throw wrongStore
}

/** The options that all Workers of the agent share, as the user gave them to the first one. */
function configure(
  given: WorkerOptions,
  { serving, agent, concurrency }: StelloPluginOptions & { serving: Serving },
): Omit<Configured, 'serving'> {
  const { namespace, dataConverter, shutdownForceTime, sinks } = given
  const { workflowModules: _bundled, ...interceptors } = given.interceptors ?? {}
  const { shutdownGraceTime: grace = GRACE_MS } = given
  const graceMs = typeof grace === 'number' ? grace : toMs(grace, 'shutdownGraceTime')
  const shared = {
    identity: serving.identity,
    interceptors,
    shutdownGraceTime: graceMs,
    // A cancellation arrives with the answer to a heartbeat.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    ...(namespace !== undefined && { namespace }),
    ...(dataConverter && { dataConverter }),
    ...(shutdownForceTime !== undefined && { shutdownForceTime }),
    ...(sinks && { sinks }),
  } satisfies Omit<WorkerOptions, 'taskQueue'>
  return { pools: poolsOf({ agent: agent.name, host: serving.host }, serving.activities, concurrency), shared, graceMs }
}

/** @throws StelloError INVALID_ARGUMENT */
function checkWorker({ taskQueue, connection, activities = {} }: WorkerOptions, agent: StelloAgent): void {
  if (taskQueue !== agent.name) {
    throw refused(
      `a worker with Stello serves the task queue of its agent, "${agent.name}", and not "${taskQueue}"`,
      'give other task queues to other workers, in the same process or another',
    )
  }
  if (!connection) throw refused('a worker with Stello is given its connection', 'pass NativeConnection.connect(…)')
  const ours = Object.keys(POOLS)
  const taken = Object.keys(activities).find((name) => ours.includes(name))
  if (taken) throw refused(`an activity of yours is named "${taken}", as one of Stello's is`, 'rename it')
}

function clientOf({ connection, namespace = 'default', dataConverter, interceptors }: WorkerOptions): Client {
  return new Client({
    namespace,
    ...(connection && { connection }),
    ...(dataConverter && { dataConverter }),
    ...(interceptors?.client && { interceptors: interceptors.client }),
  })
}

type Bundling = Pick<WorkerOptions, 'workflowsPath' | 'bundlerOptions' | 'dataConverter' | 'interceptors'>

function sourcesOf({ workflowsPath, bundlerOptions, dataConverter, interceptors }: Bundling): WorkflowSources {
  const { payloadConverterPath, failureConverterPath } = dataConverter ?? {}
  const { workflowModules } = interceptors ?? {}
  return {
    workflowsPath,
    ...(bundlerOptions?.ignoreModules && { ignoreModules: bundlerOptions.ignoreModules }),
    ...(bundlerOptions?.webpackConfigHook && { webpackConfigHook: bundlerOptions.webpackConfigHook }),
    ...(payloadConverterPath && { payloadConverterPath }),
    ...(failureConverterPath && { failureConverterPath }),
    ...(workflowModules && { workflowInterceptorModules: workflowModules }),
  }
}

function discreet(log: WorkerLog): WorkerLog {
  return {
    info: (message, meta) => log.info(withoutSecrets(message), withoutKnownIn(meta)),
    warn: (message, meta) => log.warn(withoutSecrets(message), withoutKnownIn(meta)),
  }
}

function refused(what: string, hint: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', what, { hint })
}
