/** What watchers see while it happens. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { StelloEvent } from '../../src/client/index.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventsUntil, useStello } from '../support/session-fixture.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const ended = ({ type }: StelloEvent): boolean => type === 'turn.completed'

const twice = tool('twice', 'Doubles', z.object({ n: z.number() }), ({ n }) => String(2 * n))
const doubling = replyBy([
  ['go', { toolCalls: [{ name: 'twice', arguments: { n: 21 } }] }],
  [{ tool: 'twice' }, 'It is 42.'],
])

describe('the log', () => {
  it('tells a turn in order, with offsets without a gap', async () => {
    const session = await stello.session({ llm: scriptedModel(doubling), capabilities: { tools: [twice] } })
    await ask(session, 'go')
    const events = await eventsUntil(session, ended)
    expect(events.map(({ type }) => type)).toEqual([
      'turn.started',
      'message.completed',
      'tool.status',
      'message.completed',
      'turn.completed',
    ])
    expect(events.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4])
    expect(events[2]?.data).toMatchObject({ name: 'twice', status: 'SUCCESS', result: '42' })
    expect(events.at(-1)?.data).toMatchObject({ turn: 1, stopReason: 'end_turn', text: 'It is 42.' })
  })

  it('goes on after a cursor without a gap and without a repetition', async () => {
    const session = await stello.session({ llm: scriptedModel(doubling), capabilities: { tools: [twice] } })
    await ask(session, 'go')
    const all = await eventsUntil(session, ended)
    for (const [i, { cursor }] of all.slice(0, -1).entries()) {
      expect(await eventsUntil(session, ended, { from: cursor })).toEqual(all.slice(i + 1))
    }
    for (const from of [3, '3']) expect(await eventsUntil(session, ended, { from })).toEqual(all.slice(3))
  })

  it('begins with future events when it is asked from now', async () => {
    const session = await stello.session({ llm: scriptedModel(({ messages }) => `to ${messages.at(-1)?.content}`) })
    await ask(session, 'one')
    const watching = session.watch({ from: 'now', live: false })[Symbol.asyncIterator]()
    const next = watching.next()
    let heard = false
    void next.then(() => (heard = true))
    // It begins when it has read where now is, perhaps in the middle of a turn.
    while (!heard) await ask(session, 'two')
    expect(fieldOf((await next).value.data, 'turn')).toBeGreaterThan(1)
    await watching.return?.()
  })

  it('ends with the close of the session', async () => {
    const session = await stello.session({ llm: scriptedModel(() => 'hi') })
    await ask(session, 'hello')
    await session.close()
    const types: string[] = []
    let behind = ''
    for await (const { type, cursor } of session.watch({ live: false })) {
      types.push(type)
      behind = cursor
    }
    expect(types.at(-1)).toBe('session.closed')
    for (const from of [behind, 'now', types.length]) {
      const watching = session.watch({ from })[Symbol.asyncIterator]()
      expect(await watching.next()).toEqual({ done: true, value: undefined })
    }
  })

  it.each(['nonsense', '"now"', '[3]', '{"s-1":"3"}', '-1', '3000000000', 'null'])(
    'refuses %s, which is no cursor',
    async (from) => {
      const session = await stello.session({ llm: scriptedModel([]) })
      await expect(eventsUntil(session, ended, { from })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    },
  )
})

describe('what streams', () => {
  it('is seen while the model still answers', async () => {
    const gate = createGate()
    const llm = {
      name: 'slow',
      async complete(_messages: unknown, options: { onDelta?: (delta: { type: 'text'; text: string }) => void } = {}) {
        options.onDelta?.({ type: 'text', text: 'Half an ' })
        await gate.pass()
        return {
          content: 'Half an answer.',
          toolCalls: [],
          usage: { inputTokens: 1, outputTokens: 1 },
          finishReason: 'stop' as const,
        }
      },
    }
    const session = await stello.session({ llm })
    const turn = await session.send('go')
    const events = await eventsUntil(session, ({ type }) => type === 'message.delta', { live: true })
    expect(events.at(-1)?.data).toMatchObject({ text: 'Half an ' })
    expect(events.at(-1)?.offset).toBeUndefined()
    gate.open()
    expect((await turn.result()).text).toBe('Half an answer.')
  })

  it('shows a tool card with its arguments, and what the tool tells while it runs', async () => {
    const gate = createGate()
    const work = tool('work', 'Works', z.object({ n: z.number() }), async (_args, { onUpdate }) => {
      onUpdate({ done: '50 %' })
      await gate.pass()
      return 'worked'
    })
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'work', arguments: { n: 1 } }] }],
        [{ tool: 'work' }, 'done'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [work] } })
    const turn = await session.send('go')
    const events = await eventsUntil(session, ({ type }) => type === 'tool.update', { live: true })
    expect(events.find(({ data }) => fieldOf(data, 'status') === 'DOING')?.data).toMatchObject({
      name: 'work',
      params: { n: 1 },
    })
    expect(events.at(-1)?.data).toMatchObject({ name: 'work', update: { done: '50 %' } })
    gate.open()
    expect((await turn.result()).text).toBe('done')
  })
})

describe('a tree', () => {
  it('is watched with the children that are forked meanwhile', async () => {
    const task = { name: 'new_task', arguments: { label: 'part', message: 'do it' } }
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [task] }],
        ['do it', 'did it'],
        [{ tool: 'new_task' }, 'all done'],
      ]),
    )
    const session = await stello.session({ llm, systemTools: true })
    const watched = eventsUntil(
      session,
      ({ type, sessionId }) => type === 'turn.completed' && sessionId === session.id,
      { tree: true },
    )
    await ask(session, 'go')
    const events = await watched
    const [child] = (await session.tree()).children
    const ofChild = events.filter(({ sessionId }) => sessionId === child?.id).map(({ type }) => type)
    expect(ofChild.slice(0, 3)).toEqual(['turn.started', 'message.completed', 'turn.completed'])
    expect(events.find(({ type }) => type === 'session.forked')?.data).toMatchObject({
      child: child?.id,
      label: 'part',
    })
    const later = eventsUntil(session, ({ type }) => type === 'turn.completed', { tree: true, from: 'now' })
    let heard = false
    void later.then(() => (heard = true))
    while (!heard) await ask(session, 'do it')
    expect(new Set((await later).map(({ sessionId }) => sessionId))).toEqual(new Set([session.id]))
  })
})
