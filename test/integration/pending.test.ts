/** What waits for a person: how it is shown, what counts as an answer, and what else ends the wait. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import type { InboxQuestion, SessionHandle, StelloEvent, TurnHandle } from '../../src/client/index.ts'
import { readPendingId } from '../../src/protocol/keys.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { answerSignal, answerUpdate, pendingQuery } from '../../src/protocol/temporal-messages.ts'
import { createGate } from '../support/gate.ts'
import { resetBefore } from '../support/rewind.ts'
import { ask, eventOf, eventsUntil, useStello, type TestAgent } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'
import { fieldOf } from '../support/events.ts'

const stello = useStello()
const workflow = ({ id }: SessionHandle) => stello.client.temporal.workflow.getHandle(id)

interface Waiting {
  session: SessionHandle
  turn: TurnHandle
  item: InboxQuestion
  /** How often the tool has been run. */
  runs(): number
  /** How often it was asked what it did. */
  verified(): number
}

/** A session that waits to hear whether `pay` took effect, because its worker went away in the middle of it. */
async function waiting(): Promise<Waiting> {
  const gate = createGate()
  let verified = 0
  const pay = tool('pay', 'Pays', z.object({ amount: z.number() }), () => gate.pass().then(() => 'paid'), {
    onUnknownOutcome: 'ask',
    verify: () => void verified++,
  })
  const agent: TestAgent = {
    llm: scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'pay', arguments: { amount: 3 } }] }],
        [() => true, ({ messages }) => `read: ${messages.map(({ content }) => content).join(' | ')}`],
      ]),
    ),
    capabilities: { tools: [pay] },
  }
  const first = await stello.work(agent)
  const session = await stello.client.createSession({ agent: first.taskQueue, label: 'payments' })
  const turn = await session.send('go')
  await gate.reached()
  await first.stop()
  await stello.work({ ...agent, name: first.taskQueue })
  await viewOf(stello.client, session, ({ status }) => status === 'waiting')
  const [item] = await session.pending()
  return { session, turn, item: item as InboxQuestion, runs: () => gate.arrived, verified: () => verified }
}

/** Until `takeAnswers` is called, what a person says about a call cannot be stored. */
async function refuseAnswers(sqlState: string): Promise<void> {
  await stello.db.pool.query(`
    create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'refused' using errcode = '${sqlState}'; end $$;
    create trigger refuse before update on steps for each row
      when (old.pending is not null and new.outcome is not null) execute function refuse()`)
}

const takeAnswers = (): Promise<unknown> => stello.db.pool.query('drop function if exists refuse cascade')

afterEach(takeAnswers)

const typesOf = async (session: SessionHandle, last: string): Promise<string[]> =>
  (await eventsUntil(session, ({ type }) => type === last)).map(({ type }) => type)

describe('what waits for a person', () => {
  it('is shown wherever people look: inbox, tree, query, events and the Temporal UI', async () => {
    const { session, item } = await waiting()
    expect(item).toMatchObject({
      sessionId: session.id,
      label: 'payments',
      kind: 'unknown_outcome',
      name: 'pay',
      turn: 1,
      preview: '{"amount":3}',
      message: '"pay" was begun, and nobody knows how it ended: did it take effect?',
    })
    const child = await session.fork({ label: 'aside' })
    expect(await stello.client.inbox(session.id)).toEqual([item])
    expect(await stello.client.inbox(child.id)).toEqual([])
    expect(await stello.client.inbox()).toContainEqual(item)
    expect(await session.tree()).toMatchObject({ state: 'waiting', pending: [{ id: item.id }] })
    expect(await workflow(session).query(pendingQuery)).toEqual([
      { id: item.id, kind: 'unknown_outcome', turn: 1, name: 'pay', callId: item.callId, preview: '{"amount":3}' },
    ])
    const opened = (await eventsUntil(session, ({ type }) => type === 'pending.opened')).at(-1)
    expect(opened?.data).toMatchObject({ id: item.id, name: 'pay', message: item.message })
    const { currentDetails } = await workflow(session).query<{ currentDetails: string }>('__temporal_workflow_metadata')
    expect(currentDetails).toContain(`Did \`pay\` take effect? \`done\`, \`not_done\` or \`retry\` (\`${item.id}\`)`)
    expect(currentDetails).toContain(`\`stello answer ${session.id} ID DECISION\``)
  })

  it('takes an answer by the client, whose long result goes through the store', async () => {
    const { session, turn, item, runs } = await waiting()
    const long = `wired ${'x'.repeat(20_000)}`
    await session.answer(item.id, { decision: 'done', text: long })
    expect((await turn.result()).text).toBe(`read: go |  | ${long}`)
    expect(runs()).toBe(1)
    expect(await stello.client.inbox(session.id)).toEqual([])
    const closed = (await eventsUntil(session, ({ type }) => type === 'pending.closed')).at(-1)
    expect(closed?.data).toMatchObject({ id: item.id, decision: 'done', name: 'pay' })
  })

  it('takes an answer that the store refused after the store is mended, and asks nobody again', async () => {
    const { session, turn, item, runs, verified } = await waiting()
    await refuseAnswers('22000')
    await session.answer(item.id, { decision: 'done', text: 'paid 3' })
    // Until then the question holds up the turn, and the error names it.
    await eventOf(session, 'session.paused')
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
      message: expect.stringContaining('store_error') as string,
    })
    await takeAnswers()
    await session.resume()
    expect((await turn.result()).text).toBe('read: go |  | paid 3')
    expect((await typesOf(session, 'turn.completed')).filter((type) => type.startsWith('pending.'))).toEqual([
      'pending.opened',
      'pending.closed',
    ])
    expect([runs(), verified()]).toEqual([1, 1])
  })

  it('takes an answer that the store had no room for, and no earlier attempt at it waits beside the next one', async () => {
    const { session, turn, item } = await waiting()
    await refuseAnswers('53100')
    await session.answer(item.id, { decision: 'done', text: 'paid 3' })
    const failed = await vi.waitFor(async () => {
      const { raw } = await workflow(session).describe()
      const [{ attempt, lastFailure } = {}] = raw.pendingActivities ?? []
      expect(attempt).toBeGreaterThan(2)
      return lastFailure?.message
    }, 50_000)
    expect(failed).toContain('no room')
    await takeAnswers()
    expect((await turn.result()).text).toBe('read: go |  | paid 3')
  })

  it('takes an answer by an update, without a result too', async () => {
    const { session, turn, item } = await waiting()
    await workflow(session).executeUpdate(answerUpdate, { args: [{ id: item.id, decision: 'done' }] })
    expect((await turn.result()).text).toContain('"pay" took effect: a person has said so')
  })
})

describe('an answer in wrong words', () => {
  it.each([
    ['to nothing', { id: 't1.0.0@0.99', decision: 'done' }, 'waits for an answer'],
    ['that is no word', { decision: 'yes' }, 'decision must be one of done, not_done, retry'],
    ['with a text to nothing', { decision: 'retry', text: 'x' }, 'a text goes with done, deny, answer or decline'],
  ])('%s fails as an update, is an event as a signal, and changes nothing', async (_what, wrong, problem) => {
    const { session, turn, item } = await waiting()
    const input = { id: item.id, ...wrong } as Parameters<typeof session.answer>[1] & { id: string }
    await expect(session.answer(input.id, input)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem) as string,
    })
    await expect(workflow(session).executeUpdate(answerUpdate, { args: [input] })).rejects.toMatchObject({
      cause: { type: 'INVALID_ANSWER', message: expect.stringContaining(problem) as string },
    })
    await workflow(session).signal(answerSignal, input)
    const rejected = (await eventsUntil(session, ({ type }) => type === 'answer.rejected')).at(-1)
    expect(fieldOf(rejected?.data, 'reason')).toContain(problem)
    expect(await session.pending()).toEqual([item])
    await session.answer(item.id, { decision: 'not_done' })
    expect((await turn.result()).text).toContain('"pay" did not take effect')
  })
})

describe('of several answers', () => {
  it('the first counts: the others are refused, by whatever way they come', async () => {
    const { session, turn, item, runs } = await waiting()
    const say = (decision: 'done' | 'not_done' | 'retry') =>
      workflow(session).executeUpdate(answerUpdate, { args: [{ id: item.id, decision }] })
    const said = await Promise.allSettled([say('not_done'), say('not_done'), say('not_done')])
    expect(said.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await turn.result()).text).toContain('"pay" did not take effect')
    await workflow(session).signal(answerSignal, { id: item.id, decision: 'retry' })
    expect((await typesOf(session, 'answer.rejected')).filter((type) => type === 'pending.closed')).toHaveLength(1)
    await expect(session.answer(item.id, { decision: 'retry' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(runs()).toBe(1)
  })
})

describe('the wait for a person', () => {
  it('is ended by cancelTurn: the outcome stays unknown, the item is closed, and the session goes on', async () => {
    const { session, turn, item, runs } = await waiting()
    await session.cancelTurn()
    expect(await turn.result()).toMatchObject({ stopReason: 'cancelled' })
    expect(await stello.client.inbox(session.id)).toEqual([])
    const closed = (await eventsUntil(session, ({ type }) => type === 'pending.closed')).at(-1)
    expect(closed?.data).toMatchObject({ id: item.id, decision: 'cancelled' })
    expect(await ask(session, 'and now?')).toContain('TOOL_OUTCOME_UNKNOWN: the turn was stopped before a person said')
    expect(runs()).toBe(1)
  })

  it('is ended by close', async () => {
    const { session, turn } = await waiting()
    await session.close()
    expect(await turn.result()).toMatchObject({ stopReason: 'closed' })
    expect(await typesOf(session, 'session.closed')).toContain('pending.closed')
    expect(await stello.client.inbox(session.id)).toEqual([])
  })

  it('lets messages queue up, which are answered afterwards', async () => {
    const { session, turn, item } = await waiting()
    const next = await session.send('next')
    await session.answer(item.id, { decision: 'done', text: 'paid 3' })
    await turn.result()
    expect((await next.result()).text).toContain('paid 3')
  })
})

describe('a reset of the workflow', () => {
  /** The questions that a new watcher is told of, up to the one that is open in generation `gen`. */
  const questions = async (session: SessionHandle, gen: number): Promise<unknown[]> => {
    const fits = ({ type, data }: StelloEvent): boolean =>
      type === 'pending.opened' && readPendingId(data.id)?.gen === gen
    await eventsUntil(session, fits)
    const events = await eventsUntil(session, fits)
    return events.filter(({ type }) => type.startsWith('pending.')).map(({ data }) => fieldOf(data, 'id'))
  }

  it('to before the call that asked puts the question again, and shows the old one nowhere', async () => {
    const { session, turn, item, runs } = await waiting()
    await resetBefore(stello.client, session, 't1.0.0')
    const shown = await questions(session, 1)
    const [again, ...more] = await session.pending()
    expect(more).toEqual([])
    expect(again?.id).not.toBe(item.id)
    expect(shown).toEqual([again?.id])
    await session.answer(String(again?.id), { decision: 'done', text: 'paid 3' })
    expect((await turn.result()).text).toBe('read: go |  | paid 3')
    expect(runs()).toBe(1)
  })

  it('to after it puts the question again as well, when the store knows of the reset', async () => {
    const { session, turn, item } = await waiting()
    await session.pause()
    await eventOf(session, 'session.paused')
    await resetBefore(stello.client, session, 'a1')
    await eventOf(session, 'session.rewound')
    await session.resume()
    const shown = await questions(session, 1)
    const [again] = await session.pending()
    expect(again?.id).not.toBe(item.id)
    expect(shown).toEqual([again?.id])
    await session.answer(String(again?.id), { decision: 'not_done' })
    expect((await turn.result()).text).toContain('"pay" did not take effect')
  })

  it('to after it tells the person whose answer still meant the old question', async () => {
    const { session, turn, item } = await waiting()
    await session.pause()
    await eventOf(session, 'session.paused')
    await resetBefore(stello.client, session, 'a1')
    await workflow(session).signal(answerSignal, { id: item.id, decision: 'done' })
    const rejected = await eventOf(session, 'answer.rejected')
    expect(rejected.data).toMatchObject({ id: item.id, reason: expect.stringContaining('asked anew') as string })
    await session.resume()
    await questions(session, 1)
    const [again] = await session.pending()
    await session.answer(String(again?.id), { decision: 'done', text: 'paid 3' })
    expect((await turn.result()).text).toBe('read: go |  | paid 3')
  })
})
