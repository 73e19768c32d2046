/**
 * Ctrl-C on a terminal: every process of the command gets the signal, and the processes in between pass it on once
 * more.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CTRL_C, openTerminal, type Terminal } from '../support/terminal.ts'
import { newFolder, startScript } from './command.ts'

const LAUNCHER = fileURLToPath(new URL('stops-in-order.ts', import.meta.url))

/** Long enough for every copy of the signal to arrive. A signal after that is a second press. */
const STOPPING_MS = '1500'

async function launch(start: (script: string, ms: string) => string[], ms: string = STOPPING_MS): Promise<Terminal> {
  const cwd = await newFolder()
  const scripts = { node: `node --import tsx ${LAUNCHER} ${ms}`, tsx: `tsx ${LAUNCHER} ${ms}` }
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ type: 'module', scripts }))
  const terminal = openTerminal(start(LAUNCHER, ms), { cwd })
  await terminal.printed('ready')
  return terminal
}

describe('Ctrl-C on a terminal', () => {
  it.each([
    ['node', (script: string, ms: string) => ['node', '--import', 'tsx', script, ms]],
    ['tsx', (script: string, ms: string) => ['npx', 'tsx', script, ms]],
    ['npm and node', () => ['npm', 'run', 'node']],
    ['npm and tsx', () => ['npm', 'run', 'tsx']],
  ])('stops what %s runs in order, even if it has loaded libraries that clean up at exit', async (_by, command) => {
    const terminal = await launch(command)
    terminal.press(CTRL_C)
    const { output } = await terminal.ended
    expect(output).toContain('stopping')
    expect(output).toContain('stopped in order')
  })

  it('ends at once when it is pressed a second time', async () => {
    const terminal = await launch((script, ms) => ['node', '--import', 'tsx', script, ms], '600000')
    terminal.press(CTRL_C)
    await terminal.printed('stopping')
    // The test waits as a person does who loses patience. Only the clock tells a second press from a copy of the first
    // one.
    const insisting = setInterval(() => terminal.press(CTRL_C), 200)
    const { code, output } = await terminal.ended.finally(() => clearInterval(insisting))
    expect(code).toBe(130)
    expect(output).not.toContain('stopped in order')
  })

  it('stops in order though the terminal is closed meanwhile, of which several signals may tell', async () => {
    const launcher = startScript(LAUNCHER, [STOPPING_MS])
    await launcher.printed('ready')
    launcher.kill('SIGINT')
    await launcher.printed('stopping')
    launcher.kill('SIGHUP')
    expect(await launcher.ended).toMatchObject({ code: 0, stdout: 'ready\nstopping\nstopped in order\n' })
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('stops in order at %s, which comes without a terminal', async (signal) => {
    const launcher = startScript(LAUNCHER, ['100'])
    await launcher.printed('ready')
    launcher.kill(signal)
    expect(await launcher.ended).toMatchObject({ code: 0, stdout: 'ready\nstopping\nstopped in order\n' })
  })
})
