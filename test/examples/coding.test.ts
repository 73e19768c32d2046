/** The coding demo as people run it: with an approval, and with a worker that is killed twice. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { linesOf, startScript } from '../cli/command.ts'
import { openTerminal } from '../support/terminal.ts'
import { newHome } from './homes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DEMO = fileURLToPath(new URL('../../examples/coding/demo.ts', import.meta.url))
const REPAIRED = '(sorted[middle - 1] + sorted[middle]) / 2'

it('repairs the project, also when the worker is killed twice', async () => {
  const home = await newHome()
  const { code, stdout, stderr } = await startScript(DEMO, ['--crash', '--json'], { env: { STELLO_HOME: home } }).ended
  expect(code, stderr).toBe(0)
  const [summary = {}] = linesOf(stdout)
  expect(summary).toMatchObject({ passed: 4, failed: 0, approvals: 1, toolCalls: 7 })
  expect(stderr).toMatch(/Grep SUCCESS .*median/)
  expect(stderr.match(/the worker has ended/g)).toHaveLength(2)
  expect(await readFile(join(String(summary['folder']), 'src/median.js'), 'utf8')).toContain(REPAIRED)
})

it('asks at the terminal before a command runs, and does as the person says', async () => {
  const env = { STELLO_HOME: await newHome() }
  const terminal = openTerminal(['npm', 'run', '--silent', 'demo:coding'], { cwd: ROOT, env })
  expect(await terminal.printed('[n]o:')).toContain('node --test')
  terminal.press('a\n')
  const { code, output } = await terminal.ended
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('4 tests pass, 0 fail') })
})
