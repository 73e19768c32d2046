/** Completion, by the script in a real bash. */
import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { candidates, type Named } from '../../src/cli/completion-candidates.ts'
import { addSessionCommands } from '../../src/cli/session-commands.ts'
import { builtModule } from '../support/built.ts'
import { newFolder, stello } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()

beforeAll(async () => {
  await served.client.createSession({ agent: served.agent, label: 'last week', sessionId: 'weekly-1' })
})

it('bash completes a command, its option, and a session by its label', async () => {
  const folder = await newFolder()
  const program = join(folder, 'stello')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${builtModule('src/cli/main.ts')}' "$@"\n`)
  await chmod(program, 0o755)
  const ask = (...words: string[]): string =>
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _stello; echo "<\${COMPREPLY[*]}>"`
  const asked = [ask('stello', 'transc'), ask('stello', 'transcript', '--fu'), ask('stello', 'transcript', 'last')]
  const complete = async (): Promise<string> => {
    const { stdout } = await promisify(execFile)(
      'bash',
      ['--norc', '--noprofile', '-ec', `eval "$(stello completion bash)"\n${asked.join('\n')}`],
      { cwd: folder, env: { ...process.env, ...served.env, PATH: `${folder}:${process.env['PATH']}` } },
    )
    return stdout
  }
  // Names that only servers know are left out after two seconds: on a busy machine, a later Tab has them.
  await expect.poll(complete).toBe('<transcript>\n<--full>\n<last\\ week>\n')
})

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
