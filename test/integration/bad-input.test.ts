/**
 * Bad input from outside: it is answered, and the session lives. Bad results of models and tools:
 * `bad-results.test.ts`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createStelloAgent } from '../../src/agent/agent.ts'
import { loadAgent } from '../../src/cli/serve/load-agent.ts'
import { connectStello, type SessionHandle } from '../../src/client/index.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { startWorker } from '../../src/worker.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const NUL = String.fromCharCode(0)
const LONE_SURROGATE = String.fromCharCode(0xd83d)

const echo = (): ScriptedModel => scriptedModel(({ messages }) => `got ${messages.at(-1)?.content.length}`)
const signal = (session: SessionHandle, ...args: unknown[]): Promise<void> =>
  stello.client.temporal.workflow.getHandle(session.id).signal('message', ...args)

it.each(['.', '..', 'a b', '../a', ''])(
  'a session cannot be called %j, because its id may name a folder',
  async (sessionId) => {
    await expect(stello.client.createSession({ agent: 'nobody', sessionId })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  },
)

it.each([
  ['a label', { label: 'x'.repeat(201) }],
  ['a profile', { profile: 'x'.repeat(201) }],
])('%s of more than one line is refused before anything is begun', async (_what, given) => {
  const session = await stello.session({ llm: echo() })
  for (const attempt of [
    () => stello.client.createSession({ agent: 'nobody', ...given }),
    () => session.fork({ label: 'child', ...given }),
  ]) {
    await expect(attempt()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('201 characters, more than 200') as string,
    })
  }
  expect((await stello.client.list({ agent: 'nobody' })).length + (await session.tree()).children.length).toBe(0)
})

describe('a message', () => {
  it('to a session that never existed is refused', async () => {
    const nobody = stello.client.session('s-nobody')
    for (const attempt of [
      () => nobody.send('Hi'),
      () => nobody.pause(),
      () => nobody.state(),
      () => nobody.fork({ label: 'x' }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    }
  })

  it('that is empty or over 1 MB, or under an id that the store cannot hold, is refused', async () => {
    const session = await stello.session({ llm: echo() })
    for (const text of ['', '  \n', 'x'.repeat(1024 * 1024 + 1)]) {
      await expect(session.send(text)).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    }
    for (const messageId of ['x'.repeat(200), '東'.repeat(43), `m${NUL}`, `m${LONE_SURROGATE}`]) {
      await expect(session.send('Hi', { messageId })).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    }
    expect(await (await session.send('Hi', { messageId: '東'.repeat(42) })).result()).toMatchObject({ text: 'got 2' })
    expect(await ask(session, 'Hi')).toBe('got 2')
  })

  it('of 500 KB is answered, and stays out of the history', async () => {
    const session = await stello.session({ llm: echo() })
    expect(await ask(session, 'x'.repeat(500 * 1024))).toBe(`got ${500 * 1024}`)
    const { historySize } = await stello.client.temporal.workflow.getHandle(session.id).describe()
    expect(historySize).toBeLessThan(50 * 1024)
  })

  it('with characters the store cannot hold is answered', async () => {
    const session = await stello.session({ llm: echo() })
    expect(await ask(session, `a${NUL}b`)).toBe('got 3')
    expect(await ask(session, `a${LONE_SURROGATE}`.repeat(4000))).toBe('got 8000')
    expect((await session.transcript())[0]?.content).toBe('a\uFFFDb')
  })
})

describe('a raw signal', () => {
  it.each([
    ['no argument', []],
    ['null', [null]],
    ['a number', [7]],
    ['a list', [['Hi']]],
    ['no id', [{ text: 'Hi' }]],
    ['no text that is text', [{ messageId: 'm', text: 5 }]],
    ['an empty text', ['']],
    ['an id with NUL', [{ messageId: `m${NUL}`, text: 'Hi' }]],
    ['an id with half an emoji', [{ messageId: `m${LONE_SURROGATE}`, text: 'Hi' }]],
    ['a giant id', [{ messageId: 'x'.repeat(5000), text: 'Hi' }]],
    ['an id of many bytes', [{ messageId: '東'.repeat(43), text: 'Hi' }]],
  ])('with %s becomes an event, and the session lives', async (_what, args) => {
    const session = await stello.session({ llm: echo() })
    await signal(session, ...args)
    const rejected = await eventOf(session, 'message.rejected')
    expect(fieldOf(rejected.data, 'reason')).toEqual(expect.stringMatching(/\S/))
    expect(await ask(session, 'Hi')).toBe('got 2')
  })

  it.each([
    ['of no session', { childId: '東'.repeat(50), callKey: 't1.0.0' }],
    ['to no call', { childId: 's-child', callKey: 'x'.repeat(50) }],
  ])('that is a report %s becomes an event, and is not kept', async (_what, report) => {
    const session = await stello.session({ llm: echo() })
    const { workflow } = stello.client.temporal
    await workflow.getHandle(session.id).signal('childReport', { ...report, childGen: 0, childTurn: 1 })
    expect((await eventOf(session, 'message.rejected')).data['reason']).toBe('this is no report of a child')
  })

  it('that is plain text is answered', async () => {
    const session = await stello.session({ llm: echo() })
    await signal(session, 'Hello')
    expect((await eventOf(session, 'turn.completed')).data['text']).toBe('got 5')
  })

  it('with a text too big for the workflow’s state is answered', async () => {
    const session = await stello.session({ llm: echo() })
    await signal(session, { messageId: 'big', text: 'x'.repeat(300_000) })
    expect((await session.turn('big').result()).text).toBe('got 300000')
  })

  it('that names a message nobody has stored becomes an event', async () => {
    const session = await stello.session({ llm: echo() })
    await signal(session, { messageId: 'gone' })
    expect((await eventOf(session, 'message.rejected')).data).toMatchObject({ reason: 'message gone has no text' })
    expect(await ask(session, 'Hi')).toBe('got 2')
  })
})

describe('a server that does not answer', () => {
  const agent = createStelloAgent({ name: 'lonely', llm: scriptedModel([]) })
  const log = { info: () => undefined, warn: () => undefined }

  it('is named: PostgreSQL', async () => {
    const servers = { ...stello.servers, databaseUrl: 'postgresql://me:secret@127.0.0.1:1/x' }
    for (const attempt of [() => connectStello(servers), () => startWorker({ agent, log, ...servers })]) {
      const error = await attempt().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        code: 'DATABASE_UNREACHABLE',
        message: expect.stringContaining('127.0.0.1:1/x') as string,
      })
      expect(String(error)).not.toContain('secret')
    }
  })

  it('is named: Temporal', async () => {
    const servers = { ...stello.servers, temporalAddress: '127.0.0.1:1' }
    for (const attempt of [() => connectStello(servers), () => startWorker({ agent, log, ...servers })]) {
      await expect(attempt()).rejects.toMatchObject({
        code: 'SERVER_UNREACHABLE',
        message: expect.stringContaining('127.0.0.1:1') as string,
      })
    }
  })
})

describe('an agent module', () => {
  const load = async (source: string): Promise<unknown> => {
    const folder = await mkdtemp(join(tmpdir(), 'stello-module-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'agent.mjs')
    await writeFile(path, source)
    return loadAgent(path)
  }

  it.each([
    ['without a default export', 'export const agent = 1'],
    ['that exports something else', 'export default 5'],
    ['that throws', 'throw new Error("at once")'],
    ['that is no JavaScript', 'export default {{'],
  ])('%s is refused, naming its path', async (_what, source) => {
    await expect(load(source)).rejects.toMatchObject({
      code: 'INVALID_AGENT',
      message: expect.stringContaining('agent.mjs') as string,
    })
  })

  it('that does not exist is refused, naming its path', async () => {
    await expect(loadAgent('nowhere/agent.ts')).rejects.toMatchObject({
      code: 'INVALID_AGENT',
      message: expect.stringContaining('nowhere/agent.ts') as string,
    })
  })
})
