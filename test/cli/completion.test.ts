/** Completion: what a person gets who presses Tab in a real bash, zsh and fish, and what may stand for a word. */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { candidates, type Named } from '../../src/cli/commands/completion-candidates.ts'
import { addSessionCommands } from '../../src/cli/commands/session-commands.ts'
import { builtModule } from '../support/built.ts'
import { openScreen, type Screen } from '../support/screen.ts'
import { until } from '../support/until.ts'
import { newFolder, stello } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()

beforeAll(async () => {
  await served.client.createSession({ agent: served.agent, label: 'last week', sessionId: 'weekly-1' })
  await served.client.createSession({ agent: served.agent, label: 'odd@one', sessionId: 'odd-1' })
  await served.startWorker()
})

/** Each without anything of its user's. */
const SHELLS: Record<string, { command: string[]; learn: string }> = {
  bash: { command: ['bash', '--norc', '--noprofile', '-i'], learn: 'eval "$(stello completion bash)"' },
  zsh: { command: ['zsh', '-f', '-i'], learn: 'autoload -U compinit; compinit -u -D; eval "$(stello completion zsh)"' },
  fish: { command: ['fish', '--no-config', '-i'], learn: 'stello completion fish | source' },
}

describe.each(Object.keys(SHELLS))('a person who types in %s', (name) => {
  let shell: Screen
  beforeAll(async () => {
    const folder = await newFolder()
    const program = join(folder, 'stello')
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${builtModule('src/cli/main.ts')}' "$@"\n`)
    await chmod(program, 0o755)
    const cwd = await newFolder()
    await writeFile(join(cwd, 'tram.ts'), '')
    const { command, learn } = SHELLS[name] as (typeof SHELLS)[string]
    shell = openScreen(command, {
      cwd,
      env: { ...served.env, PATH: `${folder}:${process.env['PATH']}`, HOME: cwd, PS1: '> ' },
    })
    shell.press(`${learn}; echo has''learnt\r`)
    await shell.printed('haslearnt')
  })
  afterAll(() => shell.close())

  it.each([
    ['a command', () => 'stello transc', () => 'stello transcript'],
    ['an option', () => 'stello transcript --fu', () => '--full'],
    ['a value of an option', () => 'stello list --state pa', () => '--state paused'],
    ['an agent', () => `stello start ${served.agent.slice(0, -2)}`, () => `start ${served.agent}`],
    ['a session by its id', () => 'stello tree wee', () => 'tree weekly-1'],
    ['a session by its label', () => 'stello tree las', () => 'tree last\\ week'],
    ['the rest of a label', () => 'stello tree last\\ w', () => 'tree last\\ week'],
    ['what follows the id of a question', () => 'stello answer last\\ week t1.0.0@0.1 ret', () => '@0.1 retry'],
    ['a label that is cut by @', () => 'stello tree odd@', () => 'tree odd@one'],
    ['a file, where only files fit', () => 'stello dev tra', () => 'dev tram.ts'],
  ])('completes %s by Tab', async (_what, typed, wanted) => {
    // Ctrl-U takes away what an earlier test has typed.
    shell.press(`\u0015${typed()}`)
    await shell.shows(typed())
    // Names that only servers know are left out after two seconds: on a busy machine, a later Tab has them.
    await until(wanted(), async () => {
      shell.press('\t')
      return expect
        .poll(() => lastLine(shell), { timeout: 10_000 })
        .toContain(wanted())
        .then(
          () => true,
          () => false,
        )
    })
  })
})

async function lastLine(screen: Screen): Promise<string> {
  return (await screen.seen()).at(-1) ?? ''
}

it('is silent and quick without a server', async () => {
  const env = { STELLO_HOME: join(await newFolder(), '.stello') }
  expect(await stello(['complete', '--', 'tree', ''], { env })).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await stello(['completion', 'tcsh'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('bash, zsh, fish'),
  })
})

describe('what may stand for the last word', () => {
  const program = new Command('stello').option('--json')
  addSessionCommands(program)
  const names: Record<Named, string[]> = { agent: ['changes', 'coder'], session: ['tea', 'tea-1'] }
  const found = (...words: string[]): Promise<string[]> => candidates(program, words, async (kind) => names[kind])

  it.each([
    [['tran'], ['transcript']],
    [
      ['start', 'c'],
      ['changes', 'coder'],
    ],
    [['start', 'changes', ''], []],
    [
      ['send', 't'],
      ['tea', 'tea-1'],
    ],
    [['send', 'tea', 't'], []],
    [
      ['pause', '--tree', ''],
      ['tea', 'tea-1'],
    ],
    [['pause', '--reason', ''], []],
    [['list', '--state', 'pa'], ['paused']],
    [['list', '--agent', 'co'], ['coder']],
    [['answer', 'tea', 't1.0.0@0.1', 'ret'], ['retry']],
    [['answer', '--last', 't1.0.0@0.1', 'ret'], ['retry']],
    [['permissions', 'rem'], ['remove']],
    [['nonsense', ''], []],
  ])('%j', async (words, wanted) => expect(await found(...words)).toEqual(wanted))
})
