/** Control characters of a model or a client never reach the terminal: not in a result, a remark or an error. */
import { beforeAll, expect, it } from 'vitest'
import { builtModule } from '../support/built.ts'
import { openTerminal } from '../support/terminal.ts'
import { start, stello } from './command.ts'
import { useServed } from './served.ts'

const HOSTILE = 'a\u001b]0;owned\u0007\u009b2J\u202eb\rc'
const SHOWN = 'a<1b>]0;owned<07><9b>2J<202e>b'
const served = useServed()
/** Our own colours, and the line ends of a terminal, are no attack. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ATTACK = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const OURS = /\u001b\[\d{1,2}m|\r\n/g

let id = ''

beforeAll(async () => {
  await served.startWorker()
  const session = await served.client.createSession({ agent: served.agent, label: HOSTILE })
  await (await session.send(`say ${HOSTILE}`)).result()
  id = session.id
})

it.each([
  ['list', () => ['list']],
  ['tree', () => ['tree', id]],
  ['transcript', () => ['transcript', id]],
  ['search', () => ['search', 'say', '--session', id]],
  ['an answer', () => ['send', id, HOSTILE, '--wait']],
])('is made visible by %s, and escaped in JSON', async (_command, args) => {
  const { code, stdout, stderr } = await stello(args(), { env: served.env })
  expect(code, stderr).toBe(0)
  expect(stdout).toContain(SHOWN)
  expect(stdout).not.toMatch(ATTACK)
  const json = await stello([...args(), '--json'], { env: served.env })
  expect(json.stdout).not.toMatch(ATTACK)
  expect(json.stdout).toContain(String.raw`\u009b`)
})

it('is made visible by watch', async () => {
  const watching = start(['watch', id, '--from', '0'], { env: served.env })
  expect(await watching.printed('turn.completed')).not.toMatch(ATTACK)
  watching.kill('SIGINT')
  await watching.ended
})

it('is made visible on a real terminal, and in errors', async () => {
  const stelloHere = [process.execPath, builtModule('src/cli/main.ts')]
  const terminal = openTerminal([...stelloHere, 'tree', id], { cwd: process.cwd(), env: served.env })
  const { output } = await terminal.ended
  expect(output).toContain(SHOWN)
  expect(output.replaceAll(OURS, '')).not.toMatch(ATTACK)
  const { stderr } = await stello(['tree', `s-${HOSTILE}`], { env: served.env })
  expect(stderr).toContain('<1b>')
  expect(stderr).not.toMatch(ATTACK)
})
