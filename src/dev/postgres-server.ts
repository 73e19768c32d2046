/**
 * PostgreSQL for one folder: loopback only, random password, everything committed is on disk.
 *
 * Must never remove a `postmaster.pid` while a process of the dead server may still write. Where its pid is free,
 * PostgreSQL sees to that itself.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { messageOf, StelloError } from '../agent/errors.ts'
import { cacheFolder } from './cache-folder.ts'
import type { PostgresInfo } from './dev-info.ts'
import { choosePort, startOnPorts } from './ports.ts'
import { findPostgresBinaries, isReachable } from './postgres-binaries.ts'
import type { ProcessId, RunAs } from './processes.ts'
import { endProcess, hasArguments, identify, isAlive, isTaken, processesIn, startDaemon, until } from './processes.ts'

const run = promisify(execFile)

const DATABASE = 'stello'
const READY_LIMIT_MS = 60_000
/** SQLSTATE: no use in asking again. */
const WRONG_PASSWORD = '28P01'
/** Where root's servers live when the user PostgreSQL runs as cannot enter the folder. */
const SYSTEM_FOLDER = '/var/lib/stello'

/** `fsync` and `synchronous_commit` stay on, as they are by default: what is committed is the only copy. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=64MB',
  'max_connections=200',
]

export interface PostgresServerOptions {
  home: string
  port?: number | undefined
  /** `name=value`, over ours. */
  settings?: string[]
  /** What ran here last: its port is preferred. */
  last?: PostgresInfo | undefined
  onProgress: (line: string) => void
}

/** Asks for `select 1`, over a real connection; returns the server's version, undefined when it does not answer. */
export async function pingPostgres(url: string): Promise<string | undefined> {
  return query(url, 'show server_version').then(
    (rows) => String(rows[0]?.['server_version']),
    () => undefined,
  )
}

/** The server that runs on this folder's data, whoever started it, once it answers; undefined when none does. */
export async function adoptPostgres(home: string, runAs: RunAs | undefined): Promise<PostgresInfo | undefined> {
  const { dataFolder } = placeOf(home, runAs)
  const { running, port, misleading } = await readPidFile(dataFolder)
  if (misleading) await removePidFile(dataFolder)
  if (!running) return undefined
  const info = await ready(home, dataFolder, running, port, () => (isAlive(running) ? undefined : 'ended'))
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
  const { home, last, settings = [], onProgress } = options
  const { folder, dataFolder } = placeOf(home, runAs)
  const binaries = await findPostgresBinaries(runAs ? SYSTEM_FOLDER : cacheFolder(), runAs)
  if (!existsSync(dataFolder)) {
    onProgress(`creating the database in ${dataFolder}`)
    await createCluster(binaries.initdb, { home, folder, dataFolder, runAs })
  }
  const port = await choosePort('PostgreSQL', options.port, last?.port)
  const log = join(home, 'postgres.log')
  onProgress(`starting PostgreSQL on port ${port}${runAs ? ` as user ${runAs.name}` : ''}`)
  const given = [...SETTINGS, ...settings, `port=${port}`].flatMap((setting) => ['-c', setting])
  const server = await startDaemon(binaries.postgres, ['-D', dataFolder, ...given], { log, runAs })
  const info = await ready(home, dataFolder, server.id, port, server.ended)
  if (info) return info
  await endPostgres(server.id)
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    `PostgreSQL ${server.ended() ?? `did not let us in on port ${port}`}:\n${await server.lastWords()}`,
    { hint: `see ${log}; if ${passwordFile(home)} was lost or changed, only --fresh helps` },
  )
}

/** Ends the server that runs on this folder's data, whoever started it. Connected clients do not keep it running. */
export async function stopPostgres(home: string, runAs: RunAs | undefined): Promise<void> {
  const { running } = await readPidFile(placeOf(home, runAs).dataFolder)
  if (running) await endPostgres(running)
}

/** Removes all data of the folder's server, which must have been stopped. */
export async function removePostgres(home: string, runAs: RunAs | undefined): Promise<void> {
  for (const folder of [join(home, 'postgres'), ...(runAs ? [systemFolderOf(home)] : [])]) {
    await rm(folder, { recursive: true, force: true })
  }
  for (const file of [passwordFile(home), join(home, 'postgres.log')]) await rm(file, { force: true })
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

function placeOf(home: string, runAs: RunAs | undefined): { folder: string; dataFolder: string } {
  const folder = isReachable(home, runAs) ? join(home, 'postgres') : systemFolderOf(home)
  return { folder, dataFolder: join(folder, 'data') }
}

function systemFolderOf(home: string): string {
  return join(SYSTEM_FOLDER, createHash('sha256').update(home).digest('hex').slice(0, 16))
}

function passwordFile(home: string): string {
  return join(home, 'postgres.password')
}

interface NewCluster {
  home: string
  folder: string
  dataFolder: string
  runAs: RunAs | undefined
}

/** The folder `data` appears whole: a killed initdb leaves only `data.new`, which the next start throws away. */
async function createCluster(initdb: string, { home, folder, dataFolder, runAs }: NewCluster): Promise<void> {
  const [draft, givenPassword] = [`${dataFolder}.new`, join(folder, 'initdb.password')]
  await mkdir(folder, { recursive: true, mode: 0o755 })
  await chmod(folder, 0o700)
  await rm(draft, { recursive: true, force: true })
  const password = await readFile(passwordFile(home), 'utf8').catch(() => randomBytes(24).toString('base64url'))
  await writeFile(passwordFile(home), password, { mode: 0o600 })
  // initdb runs as another user, who cannot read ours.
  await writeFile(givenPassword, password, { mode: 0o600 })
  if (runAs) for (const path of [folder, givenPassword]) await chown(path, runAs.uid, runAs.gid)
  const args = [
    '-D',
    draft,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${givenPassword}`,
    '-E',
    'UTF8',
    '--locale=C',
  ]
  try {
    await run(initdb, args, { cwd: '/', ...(runAs && { uid: runAs.uid, gid: runAs.gid }) })
  } catch (cause) {
    throw new StelloError('DATABASE_UNREACHABLE', `initdb failed in ${folder}: ${messageOf(cause)}`, { cause })
  } finally {
    await rm(givenPassword, { force: true })
  }
  await rename(draft, dataFolder)
}

async function ready(
  home: string,
  dataFolder: string,
  process: ProcessId,
  port: number,
  ended: () => string | undefined,
): Promise<PostgresInfo | undefined> {
  const password = await readFile(passwordFile(home), 'utf8').catch(() => '')
  const urlOf = (database: string): string => `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`
  const probe = (): Promise<string | undefined> =>
    query(urlOf('postgres'), 'show server_version').then(
      ([row]) => String(row?.['server_version']),
      (error: { code?: string }) => (error.code === WRONG_PASSWORD ? WRONG_PASSWORD : undefined),
    )
  const version = await until(async () => (ended() ? 'ended' : probe()), READY_LIMIT_MS)
  if (!version || version === WRONG_PASSWORD || ended()) return undefined
  const [found] = await query(urlOf('postgres'), `select 1 from pg_database where datname = '${DATABASE}'`)
  if (!found) await query(urlOf('postgres'), `create database ${DATABASE}`)
  return { url: urlOf(DATABASE), version, process, port, dataFolder }
}

/**
 * Who `postmaster.pid` names. Misleading is a pid that PostgreSQL would take for its living predecessor, and refuse to
 * start: it was used again by a stranger, or its zombie is never reaped, as in containers.
 */
async function readPidFile(dataFolder: string): Promise<{ running?: ProcessId; misleading: boolean; port: number }> {
  const lines = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  const named = identify(pid)
  return named && hasArguments(pid, ['-D', dataFolder])
    ? { running: named, misleading: false, port }
    : { misleading: isTaken(pid), port }
}

/** With the file goes PostgreSQL's own check that no process of the dead server still writes, so we make it. */
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

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000, query_timeout: 10_000 })
  // A server that goes away while we are connected must not end our process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
