/**
 * Creates, finds and removes the folders of PostgreSQL for one home. If we are root, the data belong to another user,
 * who is not trusted: root works only in folders that only root can write in, and follows no link.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, StelloError } from '../core/errors.ts'
import { isReachable } from './postgres-binaries.ts'
import { plainEnvironment, type RunAs } from './processes.ts'

const run = promisify(execFile)

/** The place of root's servers when the user that PostgreSQL runs as cannot enter the folder. */
export const SYSTEM_FOLDER = '/var/lib/stello'
/** The superuser, used only when a server is started. */
export const SUPERUSER = 'postgres'

export interface PostgresPlace {
  /** Ours. */
  folder: string
  /** The user that PostgreSQL runs as. */
  dataFolder: string
}

export function postgresPlace(home: string, runAs: RunAs | undefined): PostgresPlace {
  const folder = isReachable(home, runAs) ? join(home, 'postgres') : systemFolderOf(home)
  return { folder, dataFolder: join(folder, 'data') }
}

function systemFolderOf(home: string): string {
  return join(SYSTEM_FOLDER, createHash('sha256').update(home).digest('hex').slice(0, 16))
}

/** The passwords of the superuser and of the role that owns the store. */
export function passwordFile(home: string, role: 'postgres' | 'stello'): string {
  return join(home, `${role}.password`)
}

/** The password of a role. It is created when there is none. */
export async function passwordOf(home: string, role: 'postgres' | 'stello'): Promise<string> {
  const path = passwordFile(home, role)
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known !== '') return known
  const made = randomBytes(24).toString('base64url')
  await writeFile(path, made, { mode: 0o600 })
  return made
}

/** The folder `data` appears complete: a killed initdb leaves only `data.new`, which the next start throws away. */
export async function createCluster(
  { folder, dataFolder }: PostgresPlace,
  { initdb, home, runAs }: { initdb: string; home: string; runAs: RunAs | undefined },
): Promise<void> {
  const [draft, givenPassword] = [`${dataFolder}.new`, join(folder, 'initdb.password')]
  await mkdir(folder, { recursive: true, mode: 0o755 })
  await give(folder, { mode: runAs ? 0o711 : 0o700 })
  await removeAs(draft, runAs)
  await rm(givenPassword, { force: true })
  await mkdir(draft, { mode: 0o700 })
  await give(draft, { to: runAs })
  // initdb runs as another user, who cannot read our files.
  await writeFile(givenPassword, await passwordOf(home, 'postgres'), { mode: 0o600, flag: 'wx' })
  await give(givenPassword, { to: runAs })
  const auth = ['-U', SUPERUSER, '-A', 'scram-sha-256', `--pwfile=${givenPassword}`]
  const args = ['-D', draft, ...auth, '-E', 'UTF8', '--locale=C']
  try {
    await run(initdb, args, {
      cwd: '/',
      env: plainEnvironment(runAs),
      ...(runAs && { uid: runAs.uid, gid: runAs.gid }),
    })
  } catch (cause) {
    throw new StelloError('DATABASE_UNREACHABLE', `initdb failed in ${folder}: ${messageOf(cause)}`, { cause })
  } finally {
    await rm(givenPassword, { force: true })
  }
  await rename(draft, dataFolder)
}

/** Removes all data of the folder's server, which must have been stopped. */
export async function removePostgres(home: string, runAs: RunAs | undefined): Promise<void> {
  for (const folder of [join(home, 'postgres'), ...(runAs ? [systemFolderOf(home)] : [])]) {
    for (const part of ['data', 'data.new']) await removeAs(join(folder, part), runAs)
    await rm(folder, { recursive: true, force: true })
  }
  const passwords = (['postgres', 'stello'] as const).map((role) => passwordFile(home, role))
  for (const file of [...passwords, join(home, 'postgres.log')]) await rm(file, { force: true })
}

/** A folder may contain links of another user. That user removes the content, so only his own files can be lost. */
async function removeAs(folder: string, runAs: RunAs | undefined): Promise<void> {
  if (!runAs) return rm(folder, { recursive: true, force: true })
  const { uid, gid } = runAs
  // The folder itself is in one of our folders, where that user cannot remove it.
  await run('/bin/rm', ['-rf', '--', folder], { uid, gid, cwd: '/', env: {} }).catch(() => undefined)
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** @param change what to set of a file or folder that is no link */
async function give(path: string, { to, mode }: { to?: RunAs | undefined; mode?: number }): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    if (mode !== undefined) await file.chmod(mode)
    if (to) await file.chown(to.uid, to.gid)
  } finally {
    await file.close()
  }
}
