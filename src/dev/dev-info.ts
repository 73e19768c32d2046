/**
 * `<home>/dev.json`: which development servers run for a folder, on which addresses, and who holds them.
 *
 * The file only makes claims. Nobody may use an address from it before a real connection has been made, use an address
 * of another machine, or signal a process whose start time differs. A file that others could have written counts as
 * missing.
 */
import { constants, existsSync } from 'node:fs'
import { open, realpath, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isStelloError, StelloError } from '../core/errors.ts'
import { isLocal } from '../core/is-local.ts'
import { pingPostgres, type PostgresInfo } from './postgres-server.ts'
import { isAlive, type ProcessId } from './processes.ts'
import { pingTemporal, type TemporalInfo } from './temporal-server.ts'
import { isForeign } from './trust.ts'

export interface DevInfo {
  /** Absolute path of the folder the servers keep their state in. */
  home: string
  /** The process that stops the servers when it ends. Unset once they were stopped; a dead holder left them running. */
  holder?: ProcessId
  /** ISO 8601. */
  writtenAt: string
  temporal: TemporalInfo
  postgres: PostgresInfo
  /** Where `stello dev` serves the page, or has served it last. */
  page?: PageInfo
}

/** The page of a folder. */
export interface PageInfo {
  url: string
  port: number
}

/** The folder of the development servers: the argument, else `STELLO_HOME`, else `.stello`; without symbolic links. */
export async function resolveHome(home?: string): Promise<string> {
  return realpath(namedHome(home)).catch(() => namedHome(home))
}

/** The folder as it was named, with links. Unnamed: the nearest `.stello` with servers, here or above, else one here. */
export function namedHome(home: string = process.env['STELLO_HOME'] ?? nearestHome()): string {
  return resolve(home)
}

function nearestHome(): string {
  for (let folder = resolve('.'); ; folder = dirname(folder)) {
    const home = join(folder, '.stello')
    if (existsSync(join(home, 'dev.json'))) return home
    if (folder === dirname(folder)) return '.stello'
  }
}

/**
 * The development servers that run for a folder, found without any variable. Both have answered: Temporal has described
 * its namespace, PostgreSQL has answered `select 1`.
 *
 * @param home the folder; default `STELLO_HOME`, else `.stello`
 * @returns undefined when there are none, or when one of the two does not answer
 * @throws StelloError INVALID_ARGUMENT when the file belongs to another user, or names a server of another machine
 * @example
 * const servers = await readDevInfo()
 * if (servers) console.log(servers.temporal.uiUrl)
 */
export async function readDevInfo(home?: string): Promise<DevInfo | undefined> {
  const info = await loadDevInfo(await resolveHome(home))
  if (!info) return undefined
  const { temporal, postgres } = info
  demandLocal(temporal.address)
  demandLocal(postgres.url)
  if ([temporal.process, postgres.process].some((server) => server && !isAlive(server))) return undefined
  const versions = await Promise.all([pingTemporal(temporal.address, temporal.namespace), pingPostgres(postgres.url)])
  return versions.every(Boolean) ? info : undefined
}

/**
 * Reads the file and checks only its owner. Undefined when it is missing or no dev.json.
 *
 * @throws StelloError INVALID_ARGUMENT when others than the user could have written it
 */
export async function loadDevInfo(home: string): Promise<DevInfo | undefined> {
  const path = join(home, 'dev.json')
  try {
    const info = JSON.parse(await readOwn(path)) as Partial<DevInfo>
    return info.temporal && info.postgres ? (info as DevInfo) : undefined
  } catch (error) {
    if (isStelloError(error)) throw error
    return undefined
  }
}

/** The opened file itself is checked: a link is not followed. */
async function readOwn(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (isForeign(await file.stat())) {
      throw new StelloError('INVALID_ARGUMENT', `${path} may have been written by another user`, {
        hint: 'it says which servers get your sessions and keys: remove it, or name another folder by STELLO_HOME',
      })
    }
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/**
 * Returns an address of the file.
 *
 * @throws StelloError INVALID_ARGUMENT when it names another machine: the file may have come with somebody else's
 *   project
 */
export function demandLocal(address: string): string {
  if (isLocal(address)) return address
  throw new StelloError('INVALID_ARGUMENT', 'dev.json names a server that is not on this machine', {
    hint: 'if you mean that server, set TEMPORAL_ADDRESS and STELLO_DATABASE_URL',
  })
}

/** Replaces the file in one step, so that a reader never sees half of it. */
export async function saveDevInfo(info: DevInfo): Promise<void> {
  const draft = join(info.home, `dev.json.${process.pid}`)
  await writeFile(draft, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, join(info.home, 'dev.json'))
}
