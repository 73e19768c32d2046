/**
 * The time line: which worker ran what, and when. An attempt whose worker died stays visible after the next attempt has
 * overwritten its row.
 */
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { updateIndexes } from '../../src/store/schema/indexes.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { parkStep } from '../../src/store/ledger/parked.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { releaseStep, settleStep } from '../../src/store/ledger/settle.ts'
import { readTimeline } from '../../src/store/watching/timeline.ts'
import type { TimelineSpan } from '../../src/store/watching/timeline-span.ts'
import { newEvent } from '../../src/protocol/events.ts'
import { pendingId } from '../../src/protocol/keys.ts'
import { readEvents } from '../support/events.ts'
import { OTHER_OWNER, OWNER, openSession, resetRun, someEvent, take, taker, userRecord, visit } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readBy } from './rows-read.ts'

const at = useDatabase()
const shown = ({ kind, name, attempt, worker, outcome }: TimelineSpan): unknown[] => [
  kind,
  name,
  attempt,
  worker,
  outcome,
]
const CALL = { key: 't2.1.0', kind: 'tool', name: 'pay' } as const
const DONE = { kind: 'settled', isError: false }

describe('an attempt whose worker has died', () => {
  it('is a span of its own, told by an event, before the one that took over', async () => {
    const run = await openSession(at.db)
    const [first, second] = [await visit(at.db), await visit(at.db)]
    for (const owner of [first, second]) {
      await take(at.db, run, { ...CALL, owner })
      await stealDeadSteps(at.db, taker('a survivor'))
    }
    const step = await take(at.db, run, { ...CALL, owner: OTHER_OWNER, alone: true })
    const open = await readTimeline(at.db, [run.sessionId])
    expect(open.map(shown)).toEqual([
      ['tool', 'pay', 1, first, 'taken_over'],
      ['tool', 'pay', 2, second, 'taken_over'],
      ['tool', 'pay', 3, OTHER_OWNER, undefined],
    ])
    const status = {
      ...CALL,
      callId: 'c-1',
      title: 'Pay',
      status: 'SUCCESS',
      turn: 2,
      seq: 1,
      durationMs: 1,
      result: '',
    } as const
    const event = newEvent('tool.status', { of: [CALL.key], at: { turn: 2, round: 1 }, data: status })
    await settleStep(at.db, step, { outcome: DONE, writes: { records: [userRecord(1)], events: [event] } })
    const spans = await readTimeline(at.db, [run.sessionId])
    expect(spans.map(shown)[2]).toEqual(['tool', 'pay', 3, OTHER_OWNER, 'succeeded'])
    for (const span of spans) expect(span).toMatchObject({ turn: 2, round: 1, callId: 'c-1', title: 'Pay' })
    for (const { begunAt, endedAt } of spans) expect(endedAt?.getTime()).toBeGreaterThanOrEqual(begunAt.getTime())
    const told = await readEvents(at.db, run.sessionId, 0)
    expect(told.map(({ offset, type }) => [offset, type])).toEqual([
      [0, 'step.taken_over'],
      [1, 'step.taken_over'],
      [2, 'tool.status'],
    ])
    expect(told[0]?.data).toEqual({
      ...CALL,
      turn: 2,
      round: 1,
      worker: first,
      begunAt: spans[0]?.begunAt.toISOString(),
    })
  })

  it('is told as well by the attempt that finds it dead, but not when a step is given back for another reason', async () => {
    const run = await openSession(at.db)
    await releaseStep(at.db, await take(at.db, run, CALL), { failed: true })
    const step = await take(at.db, run, CALL)
    for (const _ of [1, 2]) await releaseStep(at.db, step, { failed: false, begun: true, died: true })
    await settleStep(at.db, await take(at.db, run, { ...CALL, owner: OTHER_OWNER }), { outcome: DONE, writes: {} })
    expect((await readTimeline(at.db, [run.sessionId])).map(shown)).toEqual([
      ['tool', 'pay', 1, OWNER, 'taken_over'],
      ['tool', 'pay', 3, OTHER_OWNER, 'succeeded'],
    ])
  })

  it('does not wait for a locked session, which is taken over when the lock is gone', async () => {
    const [locked, free] = [await openSession(at.db), await openSession(at.db)]
    for (const run of [locked, free]) await take(at.db, run, { ...CALL, owner: await visit(at.db) })
    const tx = await at.db.pool.connect()
    await tx.query('begin')
    await tx.query('select from sessions where id = $1 for update', [locked.sessionId])
    expect((await stealDeadSteps(at.db, taker('a survivor'))).map(({ sessionId }) => sessionId)).toEqual([
      free.sessionId,
    ])
    await tx.query('rollback')
    tx.release()
    expect((await stealDeadSteps(at.db, taker('a survivor'))).map(({ sessionId }) => sessionId)).toEqual([
      locked.sessionId,
    ])
  })
})

it('shows how steps have ended, waits for people, and pauses', async () => {
  const run = await openSession(at.db)
  await settleStep(at.db, await take(at.db, run, { key: 'm1.0' }), { outcome: { kind: 'answered' }, writes: {} })
  const unknown = { kind: 'settled', isError: true, code: 'TOOL_OUTCOME_UNKNOWN' }
  await settleStep(at.db, await take(at.db, run, { ...CALL, key: 't1.0.0' }), { outcome: unknown, writes: {} })
  await settleStep(at.db, await take(at.db, run, { ...CALL, key: 't1.0.1' }), {
    outcome: { ...unknown, code: 'TOOL_TIMEOUT' },
    writes: {},
  })
  await settleStep(at.db, await take(at.db, run, { ...CALL, key: 't1.0.2' }), {
    outcome: { ...unknown, code: 'TOOL_CANCELLED' },
    writes: {},
  })
  const step = await take(at.db, run, { ...CALL, key: 't1.0.3' })
  const id = pendingId(step)
  const question = {
    id,
    kind: 'approval',
    name: 'pay',
    callId: 'c-1',
    turn: 1,
    round: 0,
    preview: '',
    message: 'may it?',
  } as const
  expect(await parkStep(at.db, step, { question })).toBeTruthy()
  await announceFacts(at.db, run, {
    key: 'a1',
    writes: {
      pause: { reason: 'user', message: 'lunch' },
      events: [
        someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused', data: { reason: 'user', message: 'lunch' } }),
      ],
    },
  })
  const before = await readTimeline(at.db, [run.sessionId])
  expect(before.slice(-2)).toMatchObject([
    { kind: 'wait', name: 'pay', title: 'may it?', turn: 1, round: 0, callId: 'c-1' },
    { kind: 'pause', name: 'user', title: 'lunch', turn: 0 },
  ])
  expect(before.slice(-2).map(({ endedAt }) => endedAt)).toEqual([undefined, undefined])
  const closed = { id, kind: 'approval', name: 'pay', callId: 'c-1', turn: 1, decision: 'approve' }
  const events = [
    someEvent({ key: 'a2.0', at: { told: 2 }, type: 'session.resumed' }),
    someEvent({ key: 'a2.1', at: { told: 2 }, type: 'pending.closed', data: closed }),
  ]
  await announceFacts(at.db, run, { key: 'a2', writes: { pause: null, events } })
  expect((await readTimeline(at.db, [run.sessionId])).map(({ kind, outcome, code }) => [kind, outcome, code])).toEqual([
    ['model', 'succeeded', undefined],
    ['tool', 'unknown', 'TOOL_OUTCOME_UNKNOWN'],
    ['tool', 'failed', 'TOOL_TIMEOUT'],
    ['tool', 'cancelled', 'TOOL_CANCELLED'],
    ['wait', 'succeeded', undefined],
    ['pause', 'succeeded', undefined],
  ])
})

it('leaves out what was rewound, and shows what a later generation has taken over, at the time when it was done', async () => {
  const run = await openSession(at.db)
  for (const seq of [1, 2]) {
    const step = await take(at.db, run, { key: `m${seq}.0`, name: `model ${seq}` })
    await settleStep(at.db, step, { outcome: { kind: 'answered' }, writes: { records: [userRecord(seq)] } })
  }
  const before = await readTimeline(at.db, [run.sessionId])
  const again = resetRun(run, 'run-2', 1)
  await resolveRun(at.db, again)
  expect((await readTimeline(at.db, [run.sessionId])).map(({ name }) => name)).toEqual(['model 1'])
  const { rows } = await at.db.pool.query('select input_hash from steps where session_id = $1', [run.sessionId])
  expect(rows).toHaveLength(2)
  await expect(take(at.db, again, { key: 'm2.0' })).rejects.toThrow('settled')
  expect(await readTimeline(at.db, [run.sessionId])).toEqual(before)
})

it('reads the newest 5,000 spans, and only those events of the log that belong there', async () => {
  await updateIndexes(at.db)
  const { sessionId } = await openSession(at.db)
  await at.db.pool.query(
    `insert into steps (session_id, gen, step_key, kind, name, input_hash, lease, begun_at, settled_at, outcome)
     select $1, 0, 'm' || n || '.0', 'model', 'gpt', 'h', 1, now() - (6000 - n) * interval '1 second', now(), '{"kind":"answered"}'
     from generate_series(1, 6000) n`,
    [sessionId],
  )
  await at.db.pool.query(
    `insert into events (session_id, "offset", gen, key, type, data)
     select $1, n, 0, 'e' || n, 'message.completed', '{}' from generate_series(0, 9999) n`,
    [sessionId],
  )
  await at.db.pool.query('analyze')
  let spans: TimelineSpan[] = []
  const read = await readBy(at.db, 'events', async () => void (spans = await readTimeline(at.db, [sessionId])))
  expect([spans.length, spans[0]?.turn, spans.at(-1)?.turn]).toEqual([5000, 1001, 6000])
  expect(read).toBeLessThan(100)
})
