/**
 * The servers that a laptop needs: one Temporal and one PostgreSQL per folder. They are found, adopted or started.
 *
 * Both outlive their launcher and keep their state in the folder. Must never start a second server on a folder's data,
 * and never ends a server that a living process other than the caller holds, unless told to.
 */
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { existsSync } from 'node:fs'
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StelloError } from '../core/errors.ts'
import { loadDevInfo, namedHome, resolveHome, saveDevInfo, type DevInfo, type PageInfo } from './dev-info.ts'
import {
  adoptPostgres,
  pingPostgres,
  postgresUser,
  startPostgres,
  stopPostgres,
  type PostgresInfo,
} from './postgres-server.ts'
import {
  adoptTemporal,
  isTemporalRunning,
  pingTemporal,
  startTemporal,
  stopTemporal,
  type TemporalInfo,
} from './temporal-server.ts'
import { findTemporal, type TemporalBinary } from './find-temporal.ts'
import { withLock } from './lock.ts'
import { removePostgres } from './postgres-cluster.ts'
import { isAlive, self, type RunAs } from './processes.ts'
import { demandOwnFolder } from './trust.ts'

export interface DevServersOptions {
  /** Default `STELLO_HOME`, else `.stello`. */
  home?: string
  /** Temporal survives a power cut too, at a third of its throughput. Default false. */
  durable?: boolean
  /** Throw all data of the folder away first. Default false. */
  fresh?: boolean
  temporalPort?: number
  uiPort?: number
  postgresPort?: number
  /** One line for people at each step. */
  onProgress?: (line: string) => void
}

export interface DevServers {
  /** `pid` and `uiUrl` are unset when the server is not ours. */
  temporal: { address: string; uiUrl: string | undefined; namespace: string; source: string; pid: number | undefined }
  /** The URL holds the password. `pid` is unset when the server is not ours. */
  postgres: { url: string; pid: number | undefined }
  home: string
  /** Another living process (or another caller in this one) holds the servers: `stop` leaves them alone. */
  joined: boolean
  info: DevInfo
  /** Writes into `dev.json` where the page is, so that other commands can name it. */
  notePage: (page: PageInfo) => Promise<void>
  /** Ends Temporal, then PostgreSQL. Without `force` only if we hold them. */
  stop: (options?: { force?: boolean }) => Promise<void>
}

/**
 * The development servers of a folder, running and answering. Joins those that another process holds, adopts those that
 * a killed one left behind, starts what is missing.
 *
 * With `TEMPORAL_ADDRESS` or `STELLO_DATABASE_URL` set, that server is used and none is started in its place.
 *
 * @throws StelloError `SERVER_UNREACHABLE` or `DATABASE_UNREACHABLE` when one cannot be reached or started;
 * `INVALID_ARGUMENT` when a port that was asked for is taken, or the folder is not the user's alone.
 * @example
 * const servers = await openDevServers({ onProgress: console.error })
 * console.log(servers.temporal.uiUrl)
 * await servers.stop()
 */
export async function openDevServers(options: DevServersOptions = {}): Promise<DevServers> {
  const { onProgress = () => undefined } = options
  if (options.fresh) await removeDevHome(options.home)
  const runAs = await postgresUser()
  const home = await createHome(options.home, runAs)
  // This comes before the lock: building Temporal may take longer than others should wait for the lock.
  const needsBinary = !process.env['TEMPORAL_ADDRESS'] && !isTemporalRunning(home)
  const binary = needsBinary ? await findTemporal({ onProgress }) : undefined
  return withLock(lockOf(home), () => open({ ...options, home, onProgress, runAs, binary }), { onProgress })
}

/**
 * Ends the folder's servers, Temporal first, whoever holds them; those of others (`TEMPORAL_ADDRESS`,
 * `STELLO_DATABASE_URL`) stay as they are.
 */
export async function stopDevServers(home?: string): Promise<void> {
  const folder = await ownHome(home)
  if (existsSync(folder)) await withLock(lockOf(folder), () => stop(folder))
}

/**
 * Throws away everything that the development servers keep in a folder. Other files in it stay.
 *
 * @throws StelloError `INVALID_ARGUMENT` when a living process other than this one holds the servers.
 */
export async function removeDevHome(home?: string): Promise<void> {
  const folder = await ownHome(home)
  if (!existsSync(folder)) return
  const info = await loadDevInfo(folder)
  if (info?.holder && isAlive(info.holder)) {
    throw new StelloError('INVALID_ARGUMENT', `process ${info.holder.pid} uses the servers in ${folder}`, {
      hint: `end process ${info.holder.pid} first`,
    })
  }
  await withLock(lockOf(folder), async () => {
    await stop(folder)
    await removePostgres(folder, await postgresUser())
    for (const file of [
      '.gitignore',
      'dev.json',
      'temporal.db',
      'temporal.db-wal',
      'temporal.db-shm',
      'temporal.log',
    ]) {
      await rm(join(folder, file), { force: true })
    }
  })
  await rmdir(folder).catch(() => undefined)
}

interface OpenContext extends DevServersOptions {
  home: string
  onProgress: (line: string) => void
  runAs: RunAs | undefined
  binary: TemporalBinary | undefined
}

async function open(context: OpenContext): Promise<DevServers> {
  const { home, onProgress } = context
  const last = await loadDevInfo(home)
  const [temporal, postgres] = await Promise.allSettled([openTemporal(context, last), openPostgres(context, last)])
  if (temporal.status === 'rejected' || postgres.status === 'rejected') {
    if (temporal.status === 'fulfilled' && temporal.value.started) await stopTemporal(home)
    if (postgres.status === 'fulfilled' && postgres.value.started) await stopPostgres(home, context.runAs)
    throw temporal.status === 'rejected' ? temporal.reason : (postgres as PromiseRejectedResult).reason
  }
  const joined = last?.holder !== undefined && isAlive(last.holder)
  const info: DevInfo = {
    home,
    holder: joined && last.holder ? last.holder : self(),
    writtenAt: new Date().toISOString(),
    temporal: temporal.value.info,
    postgres: postgres.value.info,
    ...(last?.page && { page: last.page }),
  }
  await saveDevInfo(info)
  if (joined) onProgress(`joined the servers in ${home}, which process ${last.holder?.pid} holds`)
  return {
    temporal: {
      address: info.temporal.address,
      uiUrl: info.temporal.uiUrl,
      namespace: info.temporal.namespace,
      source: info.temporal.source,
      pid: info.temporal.process?.pid,
    },
    postgres: { url: info.postgres.url, pid: info.postgres.process?.pid },
    home,
    joined,
    info,
    notePage: (page) =>
      withLock(lockOf(home), async () => saveDevInfo({ ...((await loadDevInfo(home)) ?? info), page })),
    stop: async ({ force = false } = {}) => {
      await withLock(lockOf(home), async () => {
        const holder = (await loadDevInfo(home))?.holder
        if (force || (!joined && holder?.pid === process.pid && isAlive(holder))) await stop(home)
      })
    },
  }
}

interface Opened<T> {
  info: T
  /** We started it just now. */
  started: boolean
}

async function openTemporal(context: OpenContext, last: DevInfo | undefined): Promise<Opened<TemporalInfo>> {
  const { home, onProgress, durable = false, temporalPort: port, uiPort, binary } = context
  if (process.env['TEMPORAL_ADDRESS']) return { info: await useTemporal(), started: false }
  const ours = last?.temporal.process && last.temporal
  const found = await adoptTemporal(home, ours)
  if (found) {
    onProgress(`Temporal runs already on ${found.address} (${found.source})`)
    return { info: found, started: false }
  }
  const program = binary ?? (await findTemporal({ onProgress }))
  return { info: await startTemporal(program, { home, durable, port, uiPort, last: ours, onProgress }), started: true }
}

async function openPostgres(context: OpenContext, last: DevInfo | undefined): Promise<Opened<PostgresInfo>> {
  const { home, onProgress, runAs, postgresPort: port } = context
  const url = process.env['STELLO_DATABASE_URL']
  if (url) return { info: await usePostgres(url), started: false }
  const ours = last?.postgres.process && last.postgres
  const found = await adoptPostgres(home, runAs)
  if (found) {
    onProgress(`PostgreSQL runs already on port ${found.port}`)
    return { info: found, started: false }
  }
  return { info: await startPostgres(runAs, { home, port, last: ours, onProgress }), started: true }
}

async function useTemporal(): Promise<TemporalInfo> {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
  const address = connectionOptions.address ?? ''
  const version = await pingTemporal(address, namespace, connectionOptions)
  if (version) return { address, namespace, source: 'TEMPORAL_ADDRESS', version }
  throw new StelloError('SERVER_UNREACHABLE', `no Temporal server with namespace ${namespace} answers on ${address}`, {
    hint: 'check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or unset them to have a server started',
  })
}

async function usePostgres(url: string): Promise<PostgresInfo> {
  const version = await pingPostgres(url)
  if (version) return { url, version }
  throw new StelloError('DATABASE_UNREACHABLE', 'the PostgreSQL that STELLO_DATABASE_URL names does not answer', {
    hint: 'check it with psql, or unset it to have a server started',
  })
}

/**
 * Looks for the servers themselves instead of reading dev.json, which a launcher that was killed early has not written.
 */
async function stop(home: string): Promise<void> {
  await stopTemporal(home)
  await stopPostgres(home, await postgresUser())
  const info = await loadDevInfo(home)
  if (!info) return
  const { holder: _, ...rest } = info
  await saveDevInfo({ ...rest, home })
}

/**
 * A folder that only we can use. If we are root, the user that PostgreSQL runs as may pass through a folder that we
 * create, and sees nothing of it.
 */
async function createHome(home: string | undefined, runAs: RunAs | undefined): Promise<string> {
  await mkdir(await resolveHome(home), { recursive: true, mode: runAs ? 0o711 : 0o700 })
  const folder = await ownHome(home)
  // Nothing in it belongs into a repository, whatever that ignores.
  await writeFile(join(folder, '.gitignore'), '*\n', { mode: 0o600 })
  return folder
}

/** @throws StelloError INVALID_ARGUMENT when it exists and others can use it too */
async function ownHome(home: string | undefined): Promise<string> {
  if (existsSync(namedHome(home))) await demandOwnFolder(namedHome(home))
  return resolveHome(home)
}

function lockOf(home: string): string {
  return join(home, 'start.lock')
}
