/** Whatever comes from outside, from a model or from a tool: it is answered, and the session lives. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createStelloAgent } from '../../src/agent/agent.ts'
import { createTool } from '../../src/agent/forms.ts'
import { tool, type Tool, type ToolExtras } from '../../src/agent/tool.ts'
import { loadAgent } from '../../src/cli/load-agent.ts'
import { connectStello, type SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Reply, type ScriptedModel } from '../../src/testing/index.ts'
import { startWorker } from '../../src/worker.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const NUL = String.fromCharCode(0)
const LONE_SURROGATE = String.fromCharCode(0xd83d)

const echo = (): ScriptedModel => scriptedModel(({ messages }) => `got ${messages.at(-1)?.content.length}`)
const signal = (session: SessionHandle, ...args: unknown[]): Promise<void> =>
  stello.client.temporal.workflow.getHandle(session.id).signal('message', ...args)

describe('a message', () => {
  it('to a session that never was is refused', async () => {
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

  it('that is empty or over 1 MB is refused', async () => {
    const session = await stello.session({ llm: echo() })
    for (const text of ['', '  \n', 'x'.repeat(1024 * 1024 + 1)]) {
      await expect(session.send(text)).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    }
    await expect(session.send('Hi', { messageId: 'x'.repeat(200) })).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
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
    ['a giant id', [{ messageId: 'x'.repeat(5000), text: 'Hi' }]],
  ])('with %s becomes an event, and the session lives', async (_what, args) => {
    const session = await stello.session({ llm: echo() })
    await signal(session, ...args)
    const rejected = await eventOf(session, 'message.rejected')
    expect(rejected.data['reason']).toEqual(expect.stringMatching(/\S/))
    expect(await ask(session, 'Hi')).toBe('got 2')
  })

  it('that is a bare text is answered', async () => {
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

/** One call of a tool, and the result the model reads of it. */
async function resultOf(
  call: { name: string; arguments?: object | string },
  tools: Tool[] = [],
): Promise<{
  session: SessionHandle
  content: string
  isError: boolean
}> {
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [call] }],
      [() => true, 'done'],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools } })
  expect(await ask(session, 'go')).toBe('done')
  const { content = '', isError = false } = llm.calls.at(-1)?.messages.at(-1) ?? {}
  return { session, content, isError }
}

function failing(extras: ToolExtras): { fails: Tool; ran: () => number } {
  let ran = 0
  const fails = tool(
    'fails',
    'Fails',
    z.object({}),
    () => {
      throw new Error(`attempt ${++ran}`)
    },
    extras,
  )
  return { fails, ran: () => ran }
}

describe('a tool call', () => {
  it('with broken JSON does not run, and the model reads why', async () => {
    const { fails, ran } = failing({})
    const { content, isError } = await resultOf({ name: 'fails', arguments: '{"a": ' }, [fails])
    expect([
      content.startsWith('TOOL_VALIDATION_ERROR: the arguments of "fails" are not valid JSON'),
      isError,
      ran(),
    ]).toEqual([true, true, 0])
  })

  it('whose precondition fails does not run, is not tried again, and the model reads the reason', async () => {
    const asked: unknown[] = []
    let ran = 0
    const transfer = createTool({
      name: 'transfer',
      description: 'Transfers',
      schema: z.object({ amount: z.number() }),
      effect: 'idempotent',
      validate: ({ amount }) => {
        asked.push(amount)
        return { valid: false, reason: 'Insufficient funds' }
      },
      execute: () => ++ran,
    })
    const { session, content, isError } = await resultOf({ name: 'transfer', arguments: { amount: 5 } }, [transfer])
    expect([content, isError, asked, ran]).toEqual(['Tool precondition failed: Insufficient funds', true, [5], 0])
    const events = await eventsUntil(session, ({ data }) => data['status'] === 'ERROR')
    expect(events.at(-1)?.data['code']).toBe('TOOL_PRECONDITION_FAILED')
  })

  it('of an unknown tool lists what is there', async () => {
    const { content } = await resultOf({ name: 'nope' })
    expect(content).toBe('TOOL_NOT_FOUND: unknown tool "nope". Available: stello_create_session')
  })

  it('is tried three times when the tool is idempotent and throws', async () => {
    const { fails, ran } = failing({ idempotentHint: true })
    const { content, isError } = await resultOf({ name: 'fails' }, [fails])
    expect([content, isError, ran()]).toEqual(['TOOL_EXECUTION_ERROR: tool "fails" failed: attempt 3', true, 3])
  })

  it('is tried once when the tool is not idempotent and throws', async () => {
    const { fails, ran } = failing({})
    const { content } = await resultOf({ name: 'fails' }, [fails])
    expect([content, ran()]).toEqual(['TOOL_EXECUTION_ERROR: tool "fails" failed: attempt 1', 1])
  })

  it('that throws no error at all is answered', async () => {
    const odd = tool('odd', 'Odd', z.object({}), () => Promise.reject(undefined))
    expect((await resultOf({ name: 'odd' }, [odd])).isError).toBe(true)
  })

  it('with a result of 5 MB is cut for the model, and people read the whole', async () => {
    const big = tool('big', 'Big', z.object({}), () => 'y'.repeat(5 * 1024 * 1024))
    const { session, content } = await resultOf({ name: 'big' }, [big])
    expect(content.length).toBeLessThan(51 * 1024)
    expect(content).toContain(`stello transcript ${session.id} --at 3`)
    expect((await session.record(3)).message.content).toBe('y'.repeat(5 * 1024 * 1024))
  })

  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  it.each([
    ['circular', circular],
    ['a BigInt', { n: 1n }],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['nothing', undefined],
    [
      'a getter that throws',
      {
        get content() {
          throw new Error('gotcha')
        },
      },
    ],
    ['text the store cannot hold', `a${NUL}${LONE_SURROGATE}`],
    ['parts that are none', { content: [null, { type: 'text' }, 5] }],
  ])('that returns %s is answered', async (_what, value) => {
    const returns = tool('returns', 'Returns', z.object({}), async () => value as string)
    const { session } = await resultOf({ name: 'returns' }, [returns])
    expect((await session.state()).state).toBe('idle')
  })
})

describe('a model', () => {
  const answering = async (reply: Reply, tools: Tool[] = []): Promise<SessionHandle> => {
    const session = await stello.session({
      llm: scriptedModel(
        replyBy([
          ['go', reply],
          [() => true, 'done'],
        ]),
      ),
      capabilities: { tools },
    })
    await ask(session, 'go')
    return session
  }

  it('whose answer the store cannot hold is taken with replacements', async () => {
    const session = await answering(`a${NUL}b${LONE_SURROGATE}`)
    expect((await session.transcript()).at(-1)?.content).toBe('a\uFFFDb\uFFFD')
  })

  it('that gives two calls the same id has them told apart', async () => {
    const double = tool('double', 'Doubles', z.object({ n: z.number() }), ({ n }) => `${2 * n}`)
    const calls = [1, 2].map((n) => ({ id: 'same', name: 'double', arguments: { n } }))
    const session = await answering({ toolCalls: calls }, [double])
    const transcript = await session.transcript()
    const results = transcript.filter(({ role }) => role === 'tool')
    expect(results.map(({ content }) => content)).toEqual(['2', '4'])
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(transcript[1]?.toolCalls?.map(({ id }) => id))
    expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(2)
  })

  it('whose calls the store cannot hold is answered', async () => {
    const session = await answering({
      toolCalls: [{ id: `i${NUL}`, name: `n${NUL}${LONE_SURROGATE}`, arguments: `{"a":"${LONE_SURROGATE}"}` }],
    })
    expect((await session.transcript()).at(-1)?.content).toBe('done')
  })

  it('that answers nothing at all ends the turn', async () => {
    expect((await (await answering('')).transcript()).map(({ content }) => content)).toEqual(['go', ''])
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
  ])('%s is refused by its path', async (_what, source) => {
    await expect(load(source)).rejects.toMatchObject({
      code: 'INVALID_AGENT',
      message: expect.stringContaining('agent.mjs') as string,
    })
  })

  it('that is not there is refused by its path', async () => {
    await expect(loadAgent('nowhere/agent.ts')).rejects.toMatchObject({
      code: 'INVALID_AGENT',
      message: expect.stringContaining('nowhere/agent.ts') as string,
    })
  })
})
