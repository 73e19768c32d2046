/** Every command takes a session by the name that a person uses, and never guesses between two sessions. */
import { beforeAll, expect, it } from 'vitest'
import { builtModule } from '../support/built.ts'
import { openTerminal } from '../support/terminal.ts'
import { stello, stelloJson } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()
const run = (...args: string[]): ReturnType<typeof stello> => stello(args, { env: served.env })
const json = (...args: string[]): Promise<Record<string, unknown>[]> => stelloJson(args, { env: served.env })

beforeAll(async () => {
  const sessions = { 'one-1': 'tea', 'one-2': 'coffee', 'two-1': 'milk', 'two-2': 'milk' }
  for (const [sessionId, label] of Object.entries(sessions))
    await served.client.createSession({ agent: served.agent, sessionId, label })
})

it('a label or the beginning of an id stands for the id, in every command', async () => {
  expect(await json('tree', 'coffee')).toMatchObject([{ id: 'one-2' }])
  expect(await json('send', 'tea', 'hello')).toMatchObject([{ sessionId: 'one-1' }])
  expect(await json('pause', 'two-2')).toMatchObject([{ sessionId: 'two-2' }])
  expect(await json('resume', 'two-2')).toMatchObject([{ sessionId: 'two-2' }])
  expect(await json('fork', 'one-2', '--label', 'milky', '--id', 'below')).toMatchObject([{ parentId: 'one-2' }])
  expect(await json('recover', 'belo')).toMatchObject([{ sessionId: 'below' }])
  expect(await json('inbox', 'milky')).toEqual([])
})

it('a text that fits several sessions is refused with a list of them; if it fits none, the error says what to give', async () => {
  const { code, stdout, stderr } = await run('close', 'milk')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/"milk" fits more than one session\n.*give more of the id:\n +two-2 .*milk\n +two-1 .*milk\n/)
  expect(await run('tree', 'on')).toMatchObject({ code: 1, stderr: expect.stringContaining('"on" fits more than one') })
  expect(await run('close', 'nobody')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/there is no session "nobody"\n.*stello list/),
  })
})

it('--last is the newest session that is no fork, at any place of the command line', async () => {
  await served.client.session('one-1').fork({ label: 'newer', sessionId: 'newest-fork' })
  expect(await json('tree', '--last')).toMatchObject([{ id: 'two-2' }])
  expect(await json('send', '--last', 'hi')).toMatchObject([{ sessionId: 'two-2' }])
  expect(await json('send', 'hi', '--message-id', 'm', '--last')).toMatchObject([
    { sessionId: 'two-2', messageId: 'm' },
  ])
  expect(await json('pause', '--last')).toMatchObject([{ sessionId: 'two-2' }])
  expect(await json('resume', '--last')).toMatchObject([{ sessionId: 'two-2' }])
})

it('a person at a terminal chooses, and may choose none', async () => {
  const choose = (): ReturnType<typeof openTerminal> =>
    openTerminal([process.execPath, builtModule('src/cli/main.ts'), 'tree'], {
      cwd: process.cwd(),
      env: { ...served.env, NO_COLOR: '1' },
    })
  const terminal = choose()
  await terminal.printed('Which session?')
  terminal.press('\u001b[B\r')
  const { code, output } = await terminal.ended
  expect(code).toBe(0)
  expect(output).toMatch(/two-1 {2}idle +milk/)

  const other = choose()
  await other.printed('Which session?')
  other.press('\u0003')
  expect(await other.ended).toMatchObject({ code: 1, output: expect.stringContaining('no session was chosen') })
})
