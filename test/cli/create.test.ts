/** `stello create`: the package that it writes has a test, and that test passes on real servers. */
import { execFile } from 'node:child_process'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { newFolder, stello, stelloJson } from './command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENTRIES: Readonly<Record<string, string>> = {
  'stello-temporal/testing': 'src/testing/index.ts',
  'stello-temporal/worker': 'src/worker.ts',
  'stello-temporal/client': 'src/client/index.ts',
  'stello-temporal': 'src/index.ts',
}

it('writes an agent whose test passes', async () => {
  const folder = await newFolder()
  expect(await stelloJson(['create', 'tea'], { cwd: folder })).toMatchObject([{ folder: 'tea' }])
  const project = join(folder, 'tea')
  await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'))
  // The checkout takes the place of the package.
  for (const file of ['agent.ts', 'agent.test.ts']) {
    const text = await readFile(join(project, file), 'utf8')
    const here = text.replace(/'(stello-temporal[^']*)'/g, (_all, name: string) =>
      JSON.stringify(join(ROOT, ENTRIES[name] ?? '')),
    )
    await writeFile(join(project, file), here)
  }
  const { NODE_TEST_CONTEXT: _outer, NODE_OPTIONS: _options, ...env } = process.env
  const { stdout } = await promisify(execFile)('npm', ['test'], { cwd: project, env })
  expect(stdout).toMatch(/pass 1\n[^]*fail 0\n/)
})

it('refuses a name that npm would refuse, and a folder that is not empty', async () => {
  const folder = await newFolder()
  const bad = await stello(['create', 'My Agent'], { cwd: folder })
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringContaining('"My Agent" is no name of a package') })
  const full = await stello(['create', '.'], { cwd: folder })
  expect(full).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not empty|is no name/) })
})
