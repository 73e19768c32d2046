/** Bad results of models and tools: they are answered, and the session lives. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTool } from '../../src/tool/compat.ts'
import { type Tool, type ToolExtras } from '../../src/tool/tool.ts'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type Reply } from '../../src/testing/index.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const NUL = String.fromCharCode(0)
const LONE_SURROGATE = String.fromCharCode(0xd83d)

/** One call of a tool, and the result that the model reads. */
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
    const events = await eventsUntil(session, ({ data }) => fieldOf(data, 'status') === 'ERROR')
    expect(fieldOf(events.at(-1)?.data, 'code')).toBe('TOOL_PRECONDITION_FAILED')
  })

  it('of an unknown tool is answered with the tools that exist', async () => {
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

  it('that throws something that is no error is answered', async () => {
    const odd = tool('odd', 'Odd', z.object({}), () => Promise.reject(undefined))
    expect((await resultOf({ name: 'odd' }, [odd])).isError).toBe(true)
  })

  it('with a result of 5 MB is cut for the model, and people can read all of it', async () => {
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

  it('whose answer the store cannot hold is taken, with replacement characters', async () => {
    const session = await answering(`a${NUL}b${LONE_SURROGATE}`)
    expect((await session.transcript()).at(-1)?.content).toBe('a\uFFFDb\uFFFD')
  })

  it('whose name the store cannot hold pauses the session, and the pause says so', async () => {
    const session = await stello.session({ llm: scriptedModel([], { name: `n${NUL}` }) })
    await session.send('go')
    const paused = (await eventsUntil(session, ({ type }) => type === 'session.paused')).at(-1)
    expect(paused?.data).toMatchObject({
      reason: 'store_error',
      message: expect.stringContaining('the store refuses') as string,
    })
  })

  it('that counts half tokens gets them rounded', async () => {
    const session = await stello.session({
      llm: scriptedModel([{ content: 'done', usage: { inputTokens: 10.5, outputTokens: 2.4, cachedTokens: 0.5 } }]),
    })
    const { usage } = await (await session.send('go')).result()
    expect(usage).toEqual({ inputTokens: 11, outputTokens: 2 })
  })

  it.each([
    ['the same id', ['same', 'same']],
    ['ids like those that we make up', ['call_1', '', 'b_3', 'b', 'b']],
  ])('that gives its calls %s gets ids that tell them apart', async (_what, ids) => {
    const double = tool('double', 'Doubles', z.object({ n: z.number() }), ({ n }) => `${2 * n}`)
    const calls = ids.map((id, n) => ({ id, name: 'double', arguments: { n } }))
    const session = await answering({ toolCalls: calls }, [double])
    const transcript = await session.transcript()
    const results = transcript.filter(({ role }) => role === 'tool')
    expect(results.map(({ content }) => content)).toEqual(ids.map((_id, n) => `${2 * n}`))
    expect(results.map(({ toolCallId }) => toolCallId)).toEqual(transcript[1]?.toolCalls?.map(({ id }) => id))
    expect(new Set(results.map(({ toolCallId }) => toolCallId)).size).toBe(ids.length)
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
