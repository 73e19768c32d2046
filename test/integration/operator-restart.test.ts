/**
 * The workflow of a session is gone, and somebody starts it again under the same id. The session goes on from the
 * store.
 */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { Tool } from '../../src/tool/tool.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { QUEUE_LIMIT } from '../../src/session/state.ts'
import { cancelTurnSignal, messageSignal, pauseSignal } from '../../src/protocol/temporal-messages.ts'
import { onlyChild } from '../support/forks.ts'
import { startByHand, stepsAsked } from '../support/start-by-hand.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { ask, eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'
import { runIdsOf } from '../support/runs.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()

const script = (): ScriptedModel =>
  scriptedModel(
    replyBy([
      ['pay', { toolCalls: [{ name: 'pay' }] }],
      ['wait', { toolCalls: [{ name: 'pay' }, { name: 'wait' }] }],
      ['task', { toolCalls: [{ name: 'new_task', arguments: { label: 'child', message: 'wait' } }] }],
      [({ role }) => role === 'tool', 'it is done'],
      [() => true, ({ messages }) => `answer to ${messages.at(-1)?.content}`],
    ]),
  )

const pay = tool('pay', 'Pays', z.object({}), () => 'paid')
const waitAt = (gate: Gate): Tool => tool('wait', 'Waits', z.object({}), () => gate.pass().then(() => 'waited'))

const terminate = (session: SessionHandle): Promise<unknown> =>
  stello.client.temporal.workflow.getHandle(session.id).terminate('an operator')

const contents = async (session: SessionHandle): Promise<string[]> =>
  (await session.transcript()).map(({ content }) => content)

/** What the store holds of a session beside its transcript. */
async function stored(session: SessionHandle): Promise<{ gen: number; runs: string[]; events: string[] }> {
  const { rows } = await stello.db.pool.query<{ gen: number; events: string[] }>(
    `select gen, (select array_agg(type order by "offset") from events where session_id = id) as events
     from sessions where id = $1`,
    [session.id],
  )
  const [{ gen, events } = { gen: -1, events: [] }] = rows
  return { gen, runs: await runIdsOf(stello, session), events }
}

describe('a terminated session', () => {
  it('says what happened and what to do, to everybody who sends or waits', async () => {
    const session = await stello.session({ llm: scriptedModel([]) })
    await viewOf(stello.client, session)
    await terminate(session)
    const said = {
      code: 'SESSION_TERMINATED',
      message: expect.stringContaining(session.id) as string,
      hint: expect.stringContaining(`stello recover ${session.id}`) as string,
    }
    await expect(session.send('hello')).rejects.toMatchObject(said)
    await expect(session.turn('m').result()).rejects.toMatchObject(said)
  })

  it('goes on from its records when somebody starts a workflow of the same id in Temporal', async () => {
    const session = await stello.session({ llm: script() })
    for (const text of ['one', 'two']) await ask(session, text)
    await terminate(session)
    await startByHand(stello.client, session)
    expect(await ask(session, 'three')).toBe('answer to three')
    expect(await contents(session)).toEqual(['one', 'two', 'three'].flatMap((text) => [text, `answer to ${text}`]))
    expect(await session.state()).toMatchObject({ state: 'idle', turns: 3, records: 6 })
    expect((await eventOf(session, 'session.restarted')).data).toMatchObject({ generation: 1, seq: 4, turn: 2 })
  })
})

describe('a closed session', () => {
  it.each([
    ['alone', undefined],
    ['with a signal that is told to the store before the session is opened', pauseSignal],
  ])('stays as it is when somebody starts a workflow of the same id in Temporal, %s', async (_how, signal) => {
    const session = await stello.session({ llm: script() })
    await ask(session, 'one')
    await session.close()
    await stello.client.temporal.workflow.getHandle(session.id).result()
    const before = await stored(session)
    expect(before.events.at(-1)).toBe('session.closed')
    const started = await startByHand(stello.client, session, signal)
    await started.result()
    expect((await started.describe()).runId).not.toBe(before.runs[0])
    expect(await stored(session)).toEqual(before)
    expect(await session.state()).toMatchObject({ state: 'closed', turns: 1, records: 2 })
    expect(await contents(session)).toEqual(['one', 'answer to one'])
  })
})

describe('recover', () => {
  it('takes up the turn that was open, repeats no effect, and answers what waited, in order', async () => {
    const gate = createGate()
    const paid: string[] = []
    const pay = tool('pay', 'Pays', z.object({}), () => {
      paid.push('paid')
      return 'paid'
    })
    const llm = script()
    const session = await stello.session({ llm, capabilities: { tools: [pay, waitAt(gate)] } })
    await ask(session, 'one')
    const turn = await session.send('wait', { messageId: 'm-wait' })
    await gate.reached()
    await eventOf(session, 'tool.status')
    const waiting = [await session.send('two'), await session.send('x'.repeat(9000))]
    await stello.client.temporal.workflow.getHandle(session.id).signal(messageSignal, 'by hand')
    await viewOf(stello.client, session, ({ queued }) => queued === 3)
    await terminate(session)
    expect(await session.recover()).toEqual({ restarted: true, waiting: 3 })
    expect(await session.recover()).toEqual({ restarted: false, waiting: 0 })
    gate.open()
    expect((await turn.result()).text).toBe('it is done')
    for (const one of waiting) await one.result()
    await viewOf(stello.client, session, ({ status, turns }) => status === 'idle' && turns === 5)
    expect((await contents(session)).map((text) => text.slice(0, 20))).toEqual([
      'one',
      'answer to one',
      'wait',
      '',
      'paid',
      'waited',
      'it is done',
      'two',
      'answer to two',
      'x'.repeat(20),
      `answer to ${'x'.repeat(10)}`,
      'by hand',
      'answer to by hand',
    ])
    expect(paid).toEqual(['paid'])
    expect(gate.arrived).toBe(1)
    expect(llm.calls).toHaveLength(6)
  })

  it('repeats no effect of a turn whose message holds characters that the store cannot keep', async () => {
    const gate = createGate()
    const paid: string[] = []
    const pay = tool('pay', 'Pays', z.object({}), () => `${paid.push('paid')}`)
    const session = await stello.session({ llm: script(), capabilities: { tools: [pay, waitAt(gate)] } })
    const turn = await session.send('wait \0 \ud83d')
    await gate.reached()
    await eventOf(session, 'tool.status')
    await terminate(session)
    await session.recover()
    gate.open()
    expect((await turn.result()).text).toBe('it is done')
    expect(paid).toEqual(['paid'])
  })

  it('goes on although one id was given to two texts', async () => {
    const gate = createGate()
    const llm = scriptedModel(({ messages }) => gate.pass().then(() => `answer to ${messages.at(-1)?.content}`))
    const session = await stello.session({ llm })
    const turn = await session.send('first', { messageId: 'm' })
    await gate.reached()
    const second = 'second'.repeat(1000)
    await session.send(second, { messageId: 'm' })
    await terminate(session)
    expect(await session.recover()).toEqual({ restarted: true, waiting: 0 })
    await gate.reached(2)
    gate.open()
    expect((await turn.result()).text).toBe(`answer to ${second}`)
    expect(await contents(session)).toEqual([second, `answer to ${second}`])
  })

  it('hands over a full queue after a message under way, and none of them is refused', async () => {
    const gate = createGate()
    const session = await stello.session({ llm: script(), capabilities: { tools: [waitAt(gate), pay] } })
    await session.send('wait', { messageId: 'm-wait' })
    await gate.reached()
    const handle = stello.client.temporal.workflow.getHandle(session.id)
    const waiting = Array.from({ length: QUEUE_LIMIT }, (_, i) => `m-${i}`)
    for (const messageId of waiting) await handle.signal(messageSignal, { messageId, text: 'hello' })
    await viewOf(stello.client, session, ({ queued }) => queued === QUEUE_LIMIT)
    await terminate(session)
    expect(await session.recover()).toEqual({ restarted: true, waiting: QUEUE_LIMIT })
    await viewOf(stello.client, session, ({ turn, queued }) => turn?.phase === 'tools' && queued === QUEUE_LIMIT)
    await session.close()
    gate.open()
    const types = (await eventsUntil(session, ({ type }) => type === 'session.closed')).map(({ type }) => type)
    expect(types).toContain('session.restarted')
    expect(types).not.toContain('message.rejected')
    for (const messageId of waiting)
      expect(await session.turn(messageId).result()).toMatchObject({ stopReason: 'closed' })
  })

  it('refuses the messages that are too many for any queue, and people see it', async () => {
    const name = `crowded-${Date.now()}`
    const session = await stello.client.createSession({ agent: name })
    const handle = stello.client.temporal.workflow.getHandle(session.id)
    const sent = Array.from({ length: QUEUE_LIMIT + 3 }, (_, i) => `m-${i}`)
    for (const messageId of sent) await handle.signal(messageSignal, { messageId, text: 'hello' })
    await terminate(session)
    expect(await session.recover()).toEqual({ restarted: true, waiting: sent.length })
    await stello.work({ name, llm: script() })
    for (const messageId of sent.slice(-2)) {
      await expect(session.turn(messageId).result()).rejects.toThrow('messages are waiting already')
    }
    await session.close()
    await eventOf(session, 'session.closed')
  })

  it('is followed by a cancel before it knows of the turn that was open: the turn ends, and the session stays open', async () => {
    const gate = createGate()
    const session = await stello.session({ llm: script(), capabilities: { tools: [pay, waitAt(gate)] } })
    const turn = await session.send('wait')
    await gate.reached()
    await terminate(session)
    gate.open()
    await startByHand(stello.client, session, cancelTurnSignal)
    expect((await turn.result()).stopReason).toBe('cancelled')
    expect(await ask(session, 'two')).toBe('answer to two')
  })

  it('leaves a session paused until it is resumed, if somebody had paused it', async () => {
    const session = await stello.session({ llm: script() })
    await ask(session, 'one')
    await session.pause('lunch')
    await eventOf(session, 'session.paused')
    await terminate(session)
    await session.recover()
    const turn = await session.send('two')
    const view = await viewOf(stello.client, session, ({ status, queued }) => status === 'paused' && queued === 1)
    expect(view).toMatchObject({ pause: { reason: 'user', message: 'lunch' }, records: 2 })
    expect((await session.state()).state).toBe('paused')
    await session.resume()
    expect((await turn.result()).text).toBe('answer to two')
  })

  it('says that it was started anew, also if other news reaches the store before its session is opened', async () => {
    const session = await stello.session({ llm: script() })
    await ask(session, 'one')
    await terminate(session)
    const handle = await startByHand(stello.client, session, pauseSignal)
    await viewOf(stello.client, session, ({ status, records }) => status === 'paused' && records === 2)
    await session.resume()
    expect(await ask(session, 'two')).toBe('answer to two')
    const { runId } = await handle.describe()
    const said = stepsAsked(await handle.fetchHistory()).map(({ key, fresh }) => [key, fresh])
    expect(said.slice(0, 2)).toEqual([
      ['open', runId],
      ['a1', runId],
    ])
    expect(said.at(-1)).toEqual(['m2.0', undefined])
  })

  it('tells a parent the answer of the task that it waited for', async () => {
    const gate = createGate()
    const parent = await stello.session({
      llm: script(),
      systemTools: true,
      capabilities: { tools: [waitAt(gate), pay] },
    })
    const turn = await parent.send('task')
    await gate.reached()
    const child = await onlyChild(stello.client, parent)
    await terminate(parent)
    await terminate(child)
    await child.recover()
    await parent.recover()
    gate.open()
    expect((await turn.result()).text).toBe('it is done')
    expect((await contents(parent))[2]).toBe('it is done')
  })

  it.each([
    ['the child first', ['child', 'parent']],
    ['the parent first', ['parent', 'child']],
  ] as const)('begins a task whose workflow was never started, %s', async (_how, order) => {
    const gate = createGate()
    const parent = await stello.session({
      llm: scriptedModel(
        replyBy([
          ['task', { toolCalls: [{ name: 'new_task', arguments: { label: 'child', message: 'what is it?' } }] }],
          ['what is it?', 'the answer'],
          [({ role }) => role === 'tool', ({ messages }) => `it is ${messages.at(-1)?.content}`],
        ]),
      ),
      systemTools: true,
      onSessionFork: () => gate.pass(),
    })
    const turn = await parent.send('task')
    await gate.reached()
    const child = await onlyChild(stello.client, parent)
    await terminate(parent)
    gate.open()
    const recovered: Record<string, unknown> = {}
    for (const who of order) recovered[who] = await { parent, child }[who].recover()
    if (order[0] === 'child') expect(recovered['child']).toEqual({ restarted: true, waiting: 1 })
    expect((await turn.result()).text).toBe('it is the answer')
    expect((await child.transcript()).map(({ content }) => content)).toEqual(['what is it?', 'the answer'])
  })

  it('refuses a closed session, and leaves a running one alone', async () => {
    const session = await stello.session({ llm: script() })
    await ask(session, 'one')
    expect(await session.recover()).toEqual({ restarted: false, waiting: 0 })
    await session.close()
    await eventOf(session, 'session.closed')
    await expect(session.recover()).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await expect(stello.client.session('s-nobody').recover()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
})
