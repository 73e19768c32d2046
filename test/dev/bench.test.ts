/** `npm run bench` is interrupted while its servers start: they do not outlive it. */
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { stopDevServers } from '../../src/dev/dev-servers.ts'
import { startScript } from '../cli/command.ts'

const MAIN = fileURLToPath(new URL('../../bench/main.ts', import.meta.url))
let folder: string

const homes = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.startsWith('stello-bench-'))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-interrupted-'))
  await chmod(folder, 0o755)
})

afterEach(async () => {
  for (const home of existsSync(folder) ? await homes() : []) await stopDevServers(join(folder, home, '.stello'))
  await rm(folder, { recursive: true, force: true })
})

it.each([
  ['while its servers are being started', 'starting PostgreSQL'],
  ['while it measures', 'turns one after another: 0'],
])('%s stops them, throws their data away and ends with 130', async (_when, line) => {
  const bench = startScript(MAIN, ['--rows', 'turn'], { env: { TMPDIR: folder } })
  await bench.printed(line)
  bench.kill('SIGINT')
  expect(await bench.ended).toMatchObject({ code: 130 })
  expect(await homes()).toEqual([])
})
