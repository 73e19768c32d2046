/**
 * `<home>/dev.json`: which development servers run for a folder, on which addresses, and who holds them.
 *
 * What the file says is a claim. Nobody may use an address from it before a real connection has been made, nor signal a
 * process from it whose start time is another.
 */
import { readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pingPostgres } from './postgres-server.ts'
import type { ProcessId } from './processes.ts'
import { isAlive } from './processes.ts'
import { pingTemporal } from './temporal-server.ts'

export interface TemporalInfo {
  /** host:port of the gRPC front end. */
  address: string
  namespace: string
  /** Unset when the server is not ours. */
  uiUrl?: string
  /** Which way of finding Temporal led here. */
  source: string
  /** Version of the server. */
  version: string
  /** Unset when the server is not ours, like the ports. */
  process?: ProcessId
  port?: number
  uiPort?: number
}

export interface PostgresInfo {
  /** With the password. */
  url: string
  version: string
  /** Unset when the server is not ours, like the port and the folder. */
  process?: ProcessId
  port?: number
  dataFolder?: string
}

export interface DevInfo {
  /** Absolute path of the folder the servers keep their state in. */
  home: string
  /** Who stops the servers at its end. Unset once they were stopped; a dead holder left them behind. */
  holder?: ProcessId
  /** ISO 8601. */
  writtenAt: string
  temporal: TemporalInfo
  postgres: PostgresInfo
}

/** The folder of the development servers: the argument, else `STELLO_HOME`, else `.stello`; without symbolic links. */
export async function resolveHome(home: string = process.env['STELLO_HOME'] ?? '.stello'): Promise<string> {
  return realpath(home).catch(() => resolve(home))
}

/**
 * The development servers that run for a folder, found without any variable. Both have answered: Temporal described its
 * namespace, PostgreSQL a `select 1`.
 *
 * @param home the folder; default `STELLO_HOME`, else `.stello`
 * @returns undefined when there are none, or when one of the two does not answer
 * @example
 * const servers = await readDevInfo()
 * if (servers) console.log(servers.temporal.uiUrl)
 */
export async function readDevInfo(home?: string): Promise<DevInfo | undefined> {
  const info = await loadDevInfo(await resolveHome(home))
  if (!info) return undefined
  const { temporal, postgres } = info
  if ([temporal.process, postgres.process].some((server) => server && !isAlive(server))) return undefined
  const versions = await Promise.all([pingTemporal(temporal.address, temporal.namespace), pingPostgres(postgres.url)])
  return versions.every(Boolean) ? info : undefined
}

/** The file as it stands, nothing verified; undefined when it is missing or no dev.json. */
export async function loadDevInfo(home: string): Promise<DevInfo | undefined> {
  try {
    const info = JSON.parse(await readFile(join(home, 'dev.json'), 'utf8')) as Partial<DevInfo>
    return info.temporal && info.postgres ? (info as DevInfo) : undefined
  } catch {
    return undefined
  }
}

/** Replaces the file in one step, so that a reader never meets half of it. */
export async function saveDevInfo(info: DevInfo): Promise<void> {
  const draft = join(info.home, `dev.json.${process.pid}`)
  await writeFile(draft, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, join(info.home, 'dev.json'))
}
