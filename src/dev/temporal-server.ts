/**
 * Temporal's development server for one folder: `temporal server start-dev` on a SQLite file.
 *
 * Must never let two servers run on one SQLite file: both would start, and damage each other's data silently. So before
 * it starts one, it looks for a process with that file on its command line, whatever dev.json says.
 */
import { Connection, type ConnectionOptions } from '@temporalio/client'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { StelloError } from '../core/errors.ts'
import { SEARCH_ATTRIBUTES } from '../protocol/search-attributes.ts'
import type { TemporalBinary } from './find-temporal.ts'
import { choosePort, listensOn, startOnPorts } from './ports.ts'
import { commandLine, endProcess, findProcesses, isAlive, startDaemon, until, type ProcessId } from './processes.ts'

export interface TemporalInfo {
  /** host:port of the gRPC front end. */
  address: string
  namespace: string
  /** Unset when the server is not ours. */
  uiUrl?: string
  /** How Temporal was found. */
  source: string
  /** Version of the server. */
  version: string
  /** Unset when the server is not ours, like the ports. */
  process?: ProcessId
  port?: number
  uiPort?: number
  /** The port of its HTTP API, which has no sign-in either. */
  httpPort?: number
}

const NAMESPACE = 'default'
const READY_LIMIT_MS = 60_000

/**
 * The server's defaults are for clusters: with one shard, 20 polls per second put 40 ms between the scheduling and the
 * start of every task. Together with eager activities this takes a turn from 350 to under 50 ms.
 *
 * A development server reads its list of search attributes from the database whenever a workflow task ends. Here it
 * remembers the list, as a cluster does: one that is added later can be used within two seconds.
 *
 * A workflow task that dies with its worker again and again gets more and more time, up to 10 minutes, in which no
 * other worker may have it. A session whose workers had been killed ten times stood still for four minutes.
 *
 * A task queue has one partition: four share the work among the machines of a cluster, and here only cost work.
 */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=10000',
  'history.timerProcessorMaxPollRPS=10000',
  'history.visibilityProcessorMaxPollRPS=10000',
  'system.enableActivityEagerExecution=true',
  'system.forceSearchAttributesCacheRefreshOnRead=false',
  'history.workflowTaskRetryMaxInterval="20s"',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
]

export interface TemporalServerOptions {
  home: string
  /** Survives a power cut too, not only the death of processes. */
  durable: boolean
  port?: number | undefined
  uiPort?: number | undefined
  httpPort?: number | undefined
  /** The server that ran here last: its ports are preferred. */
  last?: TemporalInfo | undefined
  onProgress: (line: string) => void
}

/**
 * Asks a Temporal server for its namespace, over a real connection.
 *
 * @param options more than the address, for servers that are not ours (TLS, API key)
 * @returns the server's version, or undefined when it does not answer within 3 seconds or has no such namespace
 */
export async function pingTemporal(
  address: string,
  namespace: string,
  options: ConnectionOptions = {},
): Promise<string | undefined> {
  let connection: Connection | undefined
  try {
    connection = await Connection.connect({ ...options, address, connectTimeout: 3000 })
    const { workflowService } = connection
    return await connection.withDeadline(Date.now() + 3000, async () => {
      await workflowService.describeNamespace({ namespace })
      return (await workflowService.getSystemInfo({})).serverVersion || 'unknown'
    })
  } catch {
    return undefined
  } finally {
    await connection?.close()
  }
}

/** The server that runs on this folder's SQLite file, whoever started it, once it answers; undefined when none does. */
export async function adoptTemporal(home: string, last: TemporalInfo | undefined): Promise<TemporalInfo | undefined> {
  const [running, ...more] = findProcesses(databaseArguments(home))
  if (!running) return undefined
  if (more.length > 0) {
    throw new StelloError('SERVER_UNREACHABLE', `${more.length + 1} Temporal servers run on ${databaseFile(home)}`, {
      hint: `end them: kill ${[running, ...more].map(({ pid }) => pid).join(' ')}`,
    })
  }
  const ports = {
    port: portOf(running, '--port'),
    uiPort: portOf(running, '--ui-port'),
    httpPort: portOf(running, '--http-port'),
  }
  const { port } = ports
  const version = await until(
    async () =>
      isAlive(running) && (await listensOn(running, port)) ? pingTemporal(`127.0.0.1:${port}`, NAMESPACE) : undefined,
    READY_LIMIT_MS / 4,
  )
  if (version)
    return describe(running, { ...ports, version, source: last?.source ?? 'left behind by a killed launcher' })
  await endProcess(running, 'SIGTERM')
  return undefined
}

/**
 * Starts a server on `<home>/temporal.db`. The caller holds the folder's lock and has found none to adopt.
 *
 * @throws StelloError `SERVER_UNREACHABLE` with the end of `<home>/temporal.log` when it does not come up;
 * `INVALID_ARGUMENT` when a port that was asked for is taken.
 */
export function startTemporal(binary: TemporalBinary, options: TemporalServerOptions): Promise<TemporalInfo> {
  return startOnPorts(() => start(binary, options))
}

async function start(binary: TemporalBinary, options: TemporalServerOptions): Promise<TemporalInfo> {
  const { home, durable, last, onProgress } = options
  const port = await choosePort('Temporal', options.port, last?.port)
  const uiPort = await choosePort("Temporal's UI", options.uiPort, last?.uiPort)
  // Without it, the server would take any free port.
  const httpPort = await choosePort("Temporal's HTTP API", options.httpPort, last?.httpPort)
  const log = join(home, 'temporal.log')
  await closeToOthers(home)
  onProgress(`starting Temporal ${binary.version} (${binary.source}) on port ${port}, UI on port ${uiPort}`)
  const server = await startDaemon(
    binary.path,
    [
      'server',
      'start-dev',
      '--ip=127.0.0.1',
      `--port=${port}`,
      `--ui-port=${uiPort}`,
      `--http-port=${httpPort}`,
      `--namespace=${NAMESPACE}`,
      '--log-level=error',
      ...databaseArguments(home),
      '--sqlite-pragma=journal_mode=WAL',
      `--sqlite-pragma=synchronous=${durable ? 'FULL' : 'NORMAL'}`,
      ...DYNAMIC_CONFIG.map((value) => `--dynamic-config-value=${value}`),
      ...SEARCH_ATTRIBUTES.map((name) => `--search-attribute=${name}=Keyword`),
    ],
    { log },
  )
  const version = await until(async () => {
    if (server.ended()) return 'ended'
    // If the UI does not get its port, the whole server ends, even when it answers already.
    const listens = (await listensOn(server.id, port)) && (await listensOn(server.id, uiPort))
    return listens ? pingTemporal(`127.0.0.1:${port}`, NAMESPACE) : undefined
  }, READY_LIMIT_MS)
  if (version && !server.ended()) return describe(server.id, { port, uiPort, httpPort, version, source: binary.source })
  await endProcess(server.id, 'SIGTERM')
  throw new StelloError(
    'SERVER_UNREACHABLE',
    `Temporal ${server.ended() ?? `did not answer within ${READY_LIMIT_MS / 1000} s`}:\n${await server.lastWords()}`,
    { hint: `see ${log}` },
  )
}

/** Whether a server runs on this folder's SQLite file; it may not answer yet. */
export function isTemporalRunning(home: string): boolean {
  return findProcesses(databaseArguments(home)).length > 0
}

/** Ends the server that runs on this folder's SQLite file, whoever started it. */
export async function stopTemporal(home: string): Promise<void> {
  await Promise.all(findProcesses(databaseArguments(home)).map((server) => endProcess(server, 'SIGTERM')))
}

/** Files that an earlier version left readable for everybody. */
async function closeToOthers(home: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await chmod(databaseFile(home) + end, 0o600).catch(() => undefined)
}

function databaseFile(home: string): string {
  return join(home, 'temporal.db')
}

function databaseArguments(home: string): string[] {
  return ['--db-filename', databaseFile(home)]
}

function portOf({ pid }: ProcessId, flag: string): number {
  return Number(new RegExp(`[\\0 ]${flag}[= \\0](\\d+)`).exec(commandLine(pid))?.[1] ?? 0)
}

function describe(
  process: ProcessId,
  { port, uiPort, ...rest }: { port: number; uiPort: number; httpPort: number; version: string; source: string },
): TemporalInfo {
  const [address, uiUrl] = [`127.0.0.1:${port}`, `http://127.0.0.1:${uiPort}`]
  return { address, namespace: NAMESPACE, uiUrl, process, port, uiPort, ...rest }
}
