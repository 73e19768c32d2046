/** A worker for an agent from start to stop: connection, Temporal Worker, the plugin that makes it serve the agent. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { StelloError, messageOf } from './core/errors.ts'
import { isLocal } from './core/is-local.ts'
import { keepSecret, withoutSecrets } from './core/secrets.ts'
import { checkNodeVersion } from './worker/node-version.ts'
import { stelloPlugin, type StelloPlugin, type StelloPluginOptions } from './worker/plugin.ts'
import { OpenedParts } from './worker/opened-parts.ts'
import { installRuntime } from './worker/runtime.ts'

export { bundleStelloWorkflows, type WorkflowSources } from './worker/bundle-workflows.ts'
export type { Readiness } from './worker/health.ts'
export { stelloPlugin, type StelloPlugin, type StelloPluginOptions } from './worker/plugin.ts'
export type { WorkerLog } from './worker/serving.ts'
export type { Concurrency } from './worker/temporal-workers.ts'

checkNodeVersion()

/** Temporal may be starting just now. */
const CONNECT_ATTEMPTS = 5
const CONNECT_EVERY_MS = 200

/**
 * What a worker serves, where, and within which limits. Of Temporal's own options, `dataConverter`, `interceptors` and
 * `plugins` hold for sessions too (give clients the same `dataConverter`); `activities` and `workflowsPath`, or a
 * `workflowBundle` of `bundleStelloWorkflows`, are served beside the sessions, on the agent's task queue.
 */
export interface StelloWorkerOptions
  extends
    StelloPluginOptions,
    Pick<
      WorkerOptions,
      | 'activities'
      | 'bundlerOptions'
      | 'dataConverter'
      | 'interceptors'
      | 'plugins'
      | 'workflowBundle'
      | 'workflowsPath'
    > {
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
  /**
   * Serves Prometheus metrics, Temporal's and its own (`/metrics`), whether the process lives (`/healthz`), and whether its
   * workers can work (`/readyz`). Unset: none. One port per process.
   */
  metricsPort?: number
  /** The address they are served on; there is no sign-in. Default 127.0.0.1; `0.0.0.0` for all interfaces. */
  metricsHost?: string
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
 * Starts a worker for an agent: migrates the store, registers search attributes, takes over what dead workers left. If
 * you already have a Temporal Worker, add `stelloPlugin` to it instead.
 *
 * @throws StelloError DATABASE_UNREACHABLE, also behind a pooler in transaction mode; SERVER_UNREACHABLE
 * @example
 * const worker = await startWorker({ agent, databaseUrl, temporalAddress: '127.0.0.1:7233' })
 * process.once('SIGTERM', () => worker.stop())
 * await worker.stopped
 */
export async function startWorker(options: StelloWorkerOptions): Promise<StelloWorker> {
  const { agent, log = console } = options
  keepSecret(...agent.redact, options.connection?.apiKey)
  const health = await installRuntime(options.metricsPort, options.metricsHost)
  const stello = stelloPlugin(options)
  const opened = new OpenedParts({ warn: (message) => log.warn(withoutSecrets(message)) })
  opened.add(
    health?.add(() => stello.readiness()),
    (remove) => remove?.(),
  )
  try {
    const connection = opened.add(await connect(options), disconnect)
    let started = (): void => undefined
    const polling = new Promise<void>((resolve) => (started = resolve))
    const worker = await Worker.create(toWorkerOptions(options, { connection, stello, started })).catch(
      async (error: unknown) => {
        await stello.close()
        throw error
      },
    )
    const stopped = worker.run().finally(() => opened.run())
    stopped.catch(() => undefined)
    await Promise.race([polling, stopped])
    const stop = async (): Promise<void> => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
      await stopped
    }
    return { stopped, taskQueue: agent.name, stop }
  } catch (error) {
    await opened.run()
    throw error
  }
}

interface Parts {
  connection: NativeConnection
  stello: StelloPlugin
  /** Told when all is open and the worker begins to ask for work. */
  started(): void
}

function toWorkerOptions(options: StelloWorkerOptions, { connection, stello, started }: Parts): WorkerOptions {
  const { agent, namespace = 'default', shutdownGraceMs, maxCachedWorkflows, plugins = [] } = options
  const { activities, bundlerOptions, dataConverter, interceptors, workflowBundle, workflowsPath } = options
  return {
    connection,
    namespace,
    taskQueue: agent.name,
    ...(shutdownGraceMs !== undefined && { shutdownGraceTime: shutdownGraceMs }),
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
    ...(activities && { activities }),
    ...(bundlerOptions && { bundlerOptions }),
    ...(dataConverter && { dataConverter }),
    ...(interceptors && { interceptors }),
    ...(workflowBundle && { workflowBundle }),
    ...(workflowsPath !== undefined && { workflowsPath }),
    plugins: [...plugins, stello, { name: 'stello started', runWorker: (worker, run) => (started(), run(worker)) }],
  }
}

/** Waits a moment for a server that is just starting. */
async function connect({ temporalAddress: address, connection = {} }: StelloWorkerOptions): Promise<NativeConnection> {
  // On this machine, it would only cost processor time: a tenth of a turn (docs/performance.md).
  const compression = isLocal(address) ? { grpcCompression: { codec: 'none' as const } } : {}
  for (let attempt = 1; ; attempt++) {
    try {
      return await NativeConnection.connect({ address, ...compression, ...(connection as object) })
    } catch (error) {
      if (attempt < CONNECT_ATTEMPTS) await delay(CONNECT_EVERY_MS * attempt)
      else {
        throw new StelloError('SERVER_UNREACHABLE', `Temporal at ${address} does not answer: ${messageOf(error)}`, {
          hint: 'start it (`stello server` brings one), or correct TEMPORAL_ADDRESS',
          cause: error,
        })
      }
    }
  }
}

/**
 * Temporal's SDK leaves the `AsyncLocalStorage` of a worker's connection behind. On Node 20, each of them makes every promise of the
 * process slower for ever: a test run that starts hundreds of workers spent an eighth of its time on them.
 */
async function disconnect(connection: NativeConnection): Promise<void> {
  await connection.close()
  const storage: unknown = Reflect.get(connection, 'callContextStorage')
  if (storage instanceof AsyncLocalStorage) storage.disable()
}
