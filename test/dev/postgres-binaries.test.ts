import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findPostgresBinaries, locatePackage } from '../../src/dev/postgres-binaries.ts'
import { postgresUser } from '../../src/dev/postgres-server.ts'

let folder: string
let installed: string

/** A package as npm unpacks it without install scripts: it has no symbolic links. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-binaries-'))
  installed = join(folder, 'node_modules', 'package')
  await chmod(folder, 0o755)
  await mkdir(join(folder, 'node_modules'))
  await cp(locatePackage(), installed, { recursive: true, verbatimSymlinks: true })
  const lib = join(installed, 'native', 'lib')
  for (const name of await readdir(lib)) if ((await lstat(join(lib, name))).isSymbolicLink()) await rm(join(lib, name))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

it('makes the links that are missing after an install without scripts', async () => {
  const user = await postgresUser()
  const { initdb } = await findPostgresBinaries(join(folder, 'copies'), user, installed)
  expect(initdb.startsWith(installed)).toBe(true)
  expect(execFileSync(initdb, ['--version']).toString()).toContain('PostgreSQL')
  expect(existsSync(join(folder, 'copies'))).toBe(false)
})

it.runIf(process.getuid?.() === 0)('copies programs that the other user cannot reach, once', async () => {
  await chmod(join(folder, 'node_modules'), 0o700)
  const { uid, gid } = (await postgresUser()) ?? {}
  const user = await postgresUser()
  const [one, other] = await Promise.all(
    [1, 2].map(() => findPostgresBinaries(join(folder, 'copies'), user, installed)),
  )
  expect(one).toEqual(other)
  const run = execFileSync(one?.postgres ?? '', ['--version'], { cwd: '/', ...(uid && gid && { uid, gid }) })
  expect(run.toString()).toContain('PostgreSQL')
})

it.runIf(process.getuid?.() !== 0)(
  'copies programs whose links are missing in a folder it must not write to',
  async () => {
    await chmod(join(installed, 'native', 'lib'), 0o555)
    const { initdb } = await findPostgresBinaries(join(folder, 'copies'), undefined, installed)
    expect(initdb.startsWith(join(folder, 'copies'))).toBe(true)
    expect(execFileSync(initdb, ['--version']).toString()).toContain('PostgreSQL')
    await chmod(join(installed, 'native', 'lib'), 0o755)
  },
)
