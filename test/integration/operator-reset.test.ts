/**
 * An operator resets a session's workflow in Temporal. What comes after that point is not shown, blocks nothing, and is
 * not done twice.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { SessionHandle, StelloEvent } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { onlyChild } from '../support/forks.ts'
import { createGate } from '../support/gate.ts'
import { resetBefore } from '../support/rewind.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { historyOf, viewOf } from '../support/settled.ts'

const stello = useStello()

/** How often each tool has run. */
const effects: string[] = []
const effect = (name: string): ReturnType<typeof tool> =>
  tool(name, `Does ${name}`, z.object({}), () => {
    effects.push(name)
    return `${name} done`
  })

const script = (): ScriptedModel =>
  scriptedModel(
    replyBy([
      ['pay', { toolCalls: [{ name: 'pay' }] }],
      ['both', { toolCalls: [{ name: 'pay' }, { name: 'ship' }] }],
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'child', context: 'inherit' } }] }],
      [({ role }) => role === 'tool', 'it is done'],
      [() => true, ({ messages }) => `answer to ${messages.at(-1)?.content}`],
    ]),
  )

async function newSession(llm = script()): Promise<SessionHandle> {
  effects.length = 0
  return stello.session({ llm, capabilities: { tools: [effect('pay'), effect('ship')] } })
}

type Told = { type: string; seq?: number } & Record<string, unknown>

/**
 * The events that a new watcher gets, without times and without the rewind itself. The calls of one round end in any
 * order.
 */
async function seen(session: SessionHandle, turns: number): Promise<Told[]> {
  let ended = 0
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed' && ++ended === turns)
  const all = events.filter(({ type }) => type !== 'session.rewound').map(told)
  return all.toSorted((a, b) => (a.type === 'tool.status' && b.type === a.type ? (a.seq ?? 0) - (b.seq ?? 0) : 0))
}

function told({ type, data }: StelloEvent): Told {
  const { durationMs: _differs, ...rest } = data as { durationMs?: number }
  return { type, ...rest }
}

const idleAfter = (session: SessionHandle, turns: number): Promise<unknown> =>
  viewOf(stello.client, session, (view) => view.status === 'idle' && view.turns === turns)

/** Resolves when the store has followed the `n`th reset. */
const rewound = (session: SessionHandle, n = 1): Promise<StelloEvent[]> =>
  eventsUntil(session, ({ type, data }) => type === 'session.rewound' && data['generation'] === n)

describe('a reset', () => {
  it.each([
    ['a model call', 'm2.0'],
    ['a tool with an effect', 't2.0.0'],
    ['the second answer of a round', 'm2.1'],
    ['the first turn', 'm1.0'],
  ])(
    'to before %s, several turns back, leads to the same result, and nothing is asked or done again',
    async (_what, key) => {
      const llm = script()
      const session = await newSession(llm)
      const turns = []
      for (const text of ['hello', 'pay', 'both', 'bye']) turns.push(await session.send(text))
      const results = await Promise.all(turns.map((turn) => turn.result()))
      await idleAfter(session, 4)
      const before = {
        transcript: await session.transcript(),
        events: await seen(session, 4),
        ...(await session.stats()),
      }
      const asked = llm.calls.length
      await resetBefore(stello.client, session, key)
      await rewound(session)
      await idleAfter(session, 4)
      expect(await Promise.all(turns.map((turn) => turn.result()))).toEqual(results)
      expect({
        transcript: await session.transcript(),
        events: await seen(session, 4),
        ...(await session.stats()),
      }).toEqual(before)
      expect(await session.state()).toMatchObject({ state: 'idle', turns: 4, records: before.transcript.length })
      expect(llm.calls).toHaveLength(asked)
      expect(effects.toSorted()).toEqual(['pay', 'pay', 'ship'])
      expect(await ask(session, 'more')).toBe('answer to more')
    },
  )

  it('that forgets the messages since then leads to another future, and only that future is told', async () => {
    const session = await newSession()
    for (const text of ['one', 'two', 'fork', 'pay']) await ask(session, text)
    await idleAfter(session, 4)
    const child = await onlyChild(stello.client, session)
    await resetBefore(stello.client, session, 'm2.0', { forget: true })
    await rewound(session)
    await idleAfter(session, 2)
    expect(await ask(session, 'other')).toBe('answer to other')
    expect((await session.transcript()).map(({ content }) => content)).toEqual([
      'one',
      'answer to one',
      'two',
      'answer to two',
      'other',
      'answer to other',
    ])
    const events = await seen(session, 3)
    expect(events.filter(({ type }) => type === 'turn.started')).toMatchObject([
      { turn: 1, text: 'one' },
      { turn: 2, text: 'two' },
      { turn: 3, text: 'other' },
    ])
    expect(JSON.stringify(events)).not.toMatch(/pay|fork/)
    await idleAfter(session, 3)
    expect((await session.stats()).totals).toMatchObject({ turns: 3, modelCalls: 3, toolCalls: 0 })
    expect(await session.state()).toMatchObject({ turns: 3, records: 6 })
    expect((await session.tree()).children).toEqual([])
    expect(await ask(child, 'still there')).toBe('answer to still there')
  })

  it('to before a fork adopts the child that lives', async () => {
    const session = await newSession()
    await ask(session, 'fork')
    const child = await onlyChild(stello.client, session)
    await ask(child, 'hello')
    await idleAfter(session, 1)
    await resetBefore(stello.client, session, 't1.0.0')
    await rewound(session)
    await idleAfter(session, 1)
    expect((await onlyChild(stello.client, session)).id).toBe(child.id)
    expect(await ask(child, 'again')).toBe('answer to again')
  })

  it('that is done twice, the second time further back, repeats nothing either', async () => {
    const llm = script()
    const session = await newSession(llm)
    for (const text of ['one', 'pay', 'three']) await ask(session, text)
    await idleAfter(session, 3)
    const before = { transcript: await session.transcript(), events: await seen(session, 3) }
    await resetBefore(stello.client, session, 'm3.0')
    await rewound(session, 1)
    await idleAfter(session, 3)
    expect(await ask(session, 'pay')).toBe('it is done')
    await idleAfter(session, 4)
    const asked = llm.calls.length
    await resetBefore(stello.client, session, 'm2.0')
    await rewound(session, 2)
    await idleAfter(session, 4)
    const now = { transcript: await session.transcript(), events: await seen(session, 3) }
    expect(now.transcript.slice(0, before.transcript.length)).toEqual(before.transcript)
    expect(now.events).toEqual(before.events)
    expect(llm.calls).toHaveLength(asked)
    expect(effects).toEqual(['pay', 'pay'])
  })

  it('in the middle of a round waits for the running tool and does not call its outcome unknown', async () => {
    const gate = createGate()
    const slow = tool('slow', 'Waits', z.object({}), async () => {
      await gate.pass()
      return 'slow done'
    })
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'pay' }, { name: 'slow' }] }],
        [
          ({ role }) => role === 'tool',
          ({ messages }) =>
            messages
              .slice(-2)
              .map(({ content }) => content)
              .join(', '),
        ],
      ]),
    )
    effects.length = 0
    const session = await stello.session({ llm, capabilities: { tools: [effect('pay'), slow] } })
    const turn = await session.send('go')
    await gate.reached()
    await eventsUntil(session, ({ type, data }) => type === 'tool.status' && data['name'] === 'pay')
    await resetBefore(stello.client, session, 't1.0.1')
    await rewound(session)
    expect((await session.transcript()).map(({ content }) => content)).toEqual(['go', '', 'pay done'])
    gate.open()
    expect((await turn.result()).text).toBe('pay done, slow done')
    expect(gate.arrived).toBe(1)
    expect(effects).toEqual(['pay'])
    expect(await seen(session, 1)).toMatchObject([
      { type: 'turn.started' },
      { type: 'message.completed' },
      { type: 'tool.status', name: 'pay', status: 'SUCCESS' },
      { type: 'tool.status', name: 'slow', status: 'SUCCESS' },
      { type: 'message.completed' },
      { type: 'turn.completed' },
    ])
  })

  it('of a paused session to before the pause goes on, and does not ask again and again', async () => {
    const session = await newSession()
    await ask(session, 'one')
    await session.pause('lunch')
    await eventOf(session, 'session.paused')
    await resetBefore(stello.client, session, 'm1.0', { forget: true })
    expect(await ask(session, 'three')).toBe('answer to three')
    expect((await session.state()).pause).toBeUndefined()
    const { events } = await historyOf(stello.client, session.id)
    // A task that times out adds some. A session that asks again and again adds hundreds.
    expect(events).toBeLessThan(80)
    await ask(session, 'four')
    expect((await historyOf(stello.client, session.id)).events - events).toBeLessThan(40)
  })

  it('between turns leaves the session idle when the store hears of a pause first', async () => {
    const session = await newSession()
    const turn = await session.send('one')
    await turn.result()
    // The store has the answer a moment before the workflow does.
    await viewOf(stello.client, session)
    await session.pause()
    await eventOf(session, 'session.paused')
    await resetBefore(stello.client, session, 'a1')
    await rewound(session)
    await session.resume()
    await eventOf(session, 'session.resumed')
    expect(await session.state()).toMatchObject({ state: 'idle', turns: 1 })
    expect((await turn.result()).text).toBe('answer to one')
  })

  it('of a closed session to before the close opens it again', async () => {
    const session = await newSession()
    await ask(session, 'one')
    await session.close()
    await eventOf(session, 'session.closed')
    await stello.client.temporal.workflow.getHandle(session.id).result()
    await resetBefore(stello.client, session, 'm1.0', { forget: true })
    await idleAfter(session, 1)
    expect(await ask(session, 'two')).toBe('answer to two')
    expect(await session.state()).toMatchObject({ state: 'idle', turns: 2 })
  })
})
