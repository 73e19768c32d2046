/** One turn from end to end: messages, tools, usage, deduplication. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

describe('a turn', () => {
  it('ends with what the model answers', async () => {
    const llm = scriptedModel([{ content: 'Hello.', usage: { inputTokens: 7, outputTokens: 3 } }])
    const session = await stello.session({ llm, systemPrompt: 'Be kind.' })
    const turn = await session.send('Hi')
    expect(await turn.result()).toEqual({
      text: 'Hello.',
      stopReason: 'end_turn',
      rounds: 0,
      usage: { inputTokens: 7, outputTokens: 3 },
    })
    expect(llm.calls.map(({ messages }) => messages)).toEqual([
      [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
      ],
    ])
    expect(await session.transcript()).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ])
  })

  it('knows what was said in the turns before', async () => {
    const llm = scriptedModel(({ messages }) => `${messages.length} messages`)
    const session = await stello.session({ llm })
    expect([await ask(session, 'one'), await ask(session, 'two'), await ask(session, 'three')]).toEqual([
      '1 messages',
      '3 messages',
      '5 messages',
    ])
  })

  it('can be read while a round is under way: the results so far are at their places', async () => {
    const gate = createGate()
    const slow = tool('slow', 'Waits', z.object({}), async () => {
      await gate.pass()
      return 'slow done'
    })
    const quick = tool('quick', 'Answers', z.object({}), () => 'quick done')
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'slow' }, { name: 'quick' }] }],
        [{ tool: 'slow' }, 'done'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [slow, quick] } })
    const turn = await session.send('go')
    await gate.reached()
    await eventOf(session, 'tool.status')
    expect((await session.transcript()).map(({ content }) => content)).toEqual(['go', '', 'quick done'])
    gate.open()
    await turn.result()
    expect((await session.transcript()).map(({ content }) => content)).toEqual([
      'go',
      '',
      'slow done',
      'quick done',
      'done',
    ])
  })

  it('runs the calls of one answer at the same time and hands their results over in the order of the calls', async () => {
    const gate = createGate()
    const ended: string[] = []
    const wait = tool('wait', 'Waits', z.object({ name: z.string() }), async ({ name }) => {
      await gate.pass()
      // The first call ends last.
      if (name === 'a') await both
      ended.push(name)
      if (name !== 'a' && ended.length === 2) othersDone()
      return `result ${name}`
    })
    let othersDone = (): void => {}
    const both = new Promise<void>((resolve) => (othersDone = resolve))
    const names = ['a', 'b', 'c']
    const llm = scriptedModel(
      replyBy([
        [
          'go',
          {
            toolCalls: names.map((name) => ({ name: 'wait', arguments: { name } })),
            usage: { inputTokens: 10, outputTokens: 1 },
          },
        ],
        [{ tool: 'wait' }, { content: 'done', usage: { inputTokens: 20, outputTokens: 2 } }],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [wait] } })
    const turn = await session.send('go')
    await gate.reached(3)
    gate.open()
    expect(await turn.result()).toEqual({
      text: 'done',
      stopReason: 'end_turn',
      rounds: 1,
      usage: { inputTokens: 30, outputTokens: 3 },
    })
    expect(ended.at(-1)).toBe('a')
    const results = llm.calls[1]?.messages.filter((message) => message.role === 'tool')
    expect(results?.map((message) => message.content)).toEqual(names.map((name) => `result ${name}`))
  })

  it('gives a tool the ids of its session and its call', async () => {
    const seen: unknown[] = []
    const look = tool('look', 'Looks', z.object({}), (_args, ctx) => {
      seen.push({ sessionId: ctx.sessionId, messageId: ctx.messageId, callId: ctx.callId, requestId: ctx.requestId })
      return 'seen'
    })
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ id: 'c1', name: 'look' }] }],
        [{ tool: 'look' }, 'done'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [look] } })
    await (await session.send('go', { messageId: 'm1' })).result()
    expect(seen).toEqual([{ sessionId: session.id, messageId: 'm1', callId: 'c1', requestId: 'c1' }])
  })

  it('counts executions and outcomes per tool', async () => {
    const half = tool('half', 'Halves', z.object({ n: z.number() }), ({ n }) => {
      if (n % 2) throw new Error('odd')
      return String(n / 2)
    })
    const calls = [2, 3, 4].map((n) => ({ name: 'half', arguments: { n } }))
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: calls }],
        [{ tool: 'half' }, 'done'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [half] } })
    await ask(session, 'go')
    const { tools, totals } = await session.stats()
    expect(tools).toMatchObject([{ toolName: 'half', executionCount: 3, successCount: 2, failureCount: 1 }])
    expect(tools[0]?.totalDuration).toBeGreaterThanOrEqual(0)
    expect(tools[0]?.averageDuration).toBe((tools[0]?.totalDuration ?? NaN) / 3)
    expect(totals).toMatchObject({ turns: 1, modelCalls: 2, toolCalls: 3 })
  })
})

describe('a message', () => {
  it('that is sent twice under one id is answered once', async () => {
    const llm = scriptedModel(({ call }) => `answer ${call}`)
    const session = await stello.session({ llm })
    const first = await (await session.send('Hi', { messageId: 'm1' })).result()
    const second = await (await session.send('Hi', { messageId: 'm1' })).result()
    expect(second).toEqual(first)
    await ask(session, 'bye')
    expect(llm.calls).toHaveLength(2)
  })

  it('that is sent many times at once under one id is answered once', async () => {
    const llm = scriptedModel(({ call }) => `answer ${call}`)
    const session = await stello.session({ llm })
    const text = 'long '.repeat(2000)
    const turns = await Promise.all(Array.from({ length: 8 }, () => session.send(text, { messageId: 'same' })))
    const results = await Promise.all(turns.map((turn) => turn.result()))
    expect(new Set(results.map((result) => result.text))).toEqual(new Set(['answer 0']))
    await ask(session, 'bye')
    expect(llm.calls).toHaveLength(2)
    expect(await session.state()).toMatchObject({ turns: 2, records: 4 })
  })

  it('sent before any worker runs is answered by the first worker that comes', async () => {
    const name = `late-${Date.now()}`
    const session = await stello.client.createSession({ agent: name })
    const turn = await session.send('anybody?')
    await stello.work({ name, llm: scriptedModel(['here']) })
    expect((await turn.result()).text).toBe('here')
  })
})
