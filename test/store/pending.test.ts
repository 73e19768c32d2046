/** Steps that wait for a person: parked and answered in their own row, once, and shown while they wait. */
import { describe, expect, it } from 'vitest'
import type { Question } from '../../src/protocol/pending.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import type { StepId } from '../../src/store/ledger/claim.ts'
import { stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { runStep } from '../../src/activities/step/run-step.ts'
import { readQuestions } from '../../src/store/watching/inbox.ts'
import { parkStep, readParked, reopenStep } from '../../src/store/ledger/parked.ts'
import { pendingId } from '../../src/protocol/keys.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { forceStep, releaseStep, settleStep } from '../../src/store/ledger/settle.ts'
import { listSessions } from '../../src/store/sessions/sessions.ts'
import { someEvent, OTHER_OWNER, claim, openSession, opening, resetRun, take, visit, write, taker } from './fixtures.ts'
import { countStatements, useDatabase } from './postgres.ts'
import { attemptOf, work, workerOn } from './steps.ts'
import { readEvents } from '../support/events.ts'

const at = useDatabase()
const KEY = 't1.0.0'
const request = { key: KEY, kind: 'tool', name: 'pay' } as const

const questionOf = (step: StepId): Question => ({
  id: pendingId(step),
  kind: 'unknown_outcome',
  name: 'pay',
  callId: 'c-1',
  turn: 1,
  round: 0,
  preview: '{}',
  message: 'did it take effect?',
})

async function parked(): Promise<{ run: RunRef; step: StepId; item: Question }> {
  const run = await openSession(at.db)
  await write(at.db, run, 'm1.0', 1, [{ role: 'user', content: 'pay' }])
  const step = await take(at.db, run, request)
  const item = questionOf(step)
  expect(await parkStep(at.db, step, { question: item })).toMatchObject({ id: item.id })
  return { run, step, item }
}

const idsIn = async (sessionId: string): Promise<string[]> =>
  (await readQuestions(at.db, [sessionId])).map((item) => item.id)
const typesOf = async (sessionId: string): Promise<string[]> =>
  (await readEvents(at.db, sessionId, 0)).map(({ type }) => type)

describe('parkStep', () => {
  it('takes the step from its worker and appends the event in one statement', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { ...request, opening: opening(1, 'a', 1) })
    const item = questionOf(step)
    expect(await countStatements(() => parkStep(at.db, step, { question: item }))).toBe(1)
    const known = { ...item, at: expect.any(String) as string }
    expect(await readParked(at.db, step)).toEqual({ lease: 1, item: known })
    expect((await readEvents(at.db, run.sessionId, 1))[0]?.data).toEqual(known)
    expect(await typesOf(run.sessionId)).toEqual(['turn.started', 'pending.opened'])
    expect(await listSessions(at.db, { ids: [run.sessionId] })).toMatchObject([
      { state: 'waiting', inHand: [], pending: [{ id: item.id, name: 'pay' }] },
    ])
  })

  it('writes nothing after the lease was raised', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, request)
    await forceStep(at.db, { run, ...request })
    const item = questionOf(step)
    expect(await parkStep(at.db, step, { question: item })).toBeUndefined()
    expect(await idsIn(run.sessionId)).toEqual([])
    expect(await typesOf(run.sessionId)).toEqual([])
  })

  it('puts the time of the database on the question, whatever the worker believes', async () => {
    const clock = async (): Promise<number> => {
      const { rows } = await at.db.pool.query<{ ms: string }>(
        `select floor(extract(epoch from clock_timestamp()) * 1000) as ms`,
      )
      return Number(rows[0]?.ms)
    }
    const run = await openSession(at.db)
    const step = await take(at.db, run, request)
    const before = await clock()
    await parkStep(at.db, step, { question: { ...questionOf(step), at: '2020-01-01T00:00:00.000Z' } as Question })
    const after = await clock()
    const [item] = await readQuestions(at.db, [run.sessionId])
    const put = Date.parse(item?.at ?? '')
    expect(put).toBeGreaterThanOrEqual(before)
    expect(put).toBeLessThanOrEqual(after)
    expect(item?.at).toBe(new Date(put).toISOString())
  })

  it('leaves the question as it was put first, with its time', async () => {
    const { run, step, item } = await parked()
    const [first] = await readQuestions(at.db, [run.sessionId])
    expect(await parkStep(at.db, step, { question: { ...item, message: 'another question?' } })).toMatchObject({
      id: item.id,
    })
    expect(await readQuestions(at.db, [run.sessionId])).toEqual([first])
  })

  it('may be repeated: the event is there once', async () => {
    const { run, step, item } = await parked()
    expect(await parkStep(at.db, step, { question: item })).toMatchObject({ id: item.id })
    expect((await typesOf(run.sessionId)).filter((type) => type === 'pending.opened')).toHaveLength(1)
  })

  it('stores NUL and half an emoji as U+FFFD', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, request)
    await parkStep(at.db, step, { question: { ...questionOf(step), preview: 'a\0\uD83D' } })
    expect((await readQuestions(at.db, [run.sessionId]))[0]?.preview).toBe('a\uFFFD\uFFFD')
  })
})

describe('a parked step', () => {
  it('belongs to nobody: no dead worker is looked for, and a worker that claims it is told of the question and runs nothing', async () => {
    const { run, item } = await parked()
    await visit(at.db)
    expect(
      (await stealDeadSteps(at.db, taker('somebody else'), { graceMs: 0 })).filter(
        ({ sessionId }) => sessionId === run.sessionId,
      ),
    ).toEqual([])
    expect(await claim(at.db, run, { ...request, owner: OTHER_OWNER })).toMatchObject({ kind: 'parked', gen: 0, item })
    expect(await forceStep(at.db, { run, ...request })).toMatchObject({ lease: 2, parked: item })
    expect(await idsIn(run.sessionId)).toEqual([item.id])
  })

  it('is not run while its question is open, even if it may be repeated', async () => {
    const { run, step, item } = await parked()
    const ran = runStep(
      workerOn(at.db),
      attemptOf(run),
      work(() => Promise.reject(new Error('must not run')), {
        step: { ...request, inputHash: 'hash', durable: false },
      }),
    )
    expect(await ran).toEqual({ kind: 'pending', gen: 0, item: { id: item.id, kind: item.kind } })
    expect(await settleStep(at.db, step, { outcome: { kind: 'settled', gen: 0 }, writes: {} })).toEqual({ won: true })
  })

  it('can be told from one that was begun and from one that never was', async () => {
    const { run } = await parked()
    expect(await forceStep(at.db, { run, ...request })).toMatchObject({ begun: false })
    await take(at.db, run, { ...request, key: 't1.0.1' })
    expect(await forceStep(at.db, { run, ...request, key: 't1.0.1' })).toMatchObject({ begun: true })
    expect(await forceStep(at.db, { run, ...request, key: 't1.0.2' })).toMatchObject({ begun: false })
  })

  it('leaves the inbox when it is settled', async () => {
    const { run, step } = await parked()
    expect(await settleStep(at.db, step, { outcome: { kind: 'settled', gen: 0 }, writes: {} })).toEqual({ won: true })
    expect(await idsIn(run.sessionId)).toEqual([])
    expect(await readParked(at.db, step)).toMatchObject({ outcome: { kind: 'settled' } })
  })

  it('is not begun for the generation that a reset opens, and asks there by another id', async () => {
    const { run, item } = await parked()
    const rewound = resetRun(run, 'run-2', 1)
    const again = await claim(at.db, rewound, request)
    expect(again).toMatchObject({ kind: 'mine', gen: 1, begun: true })
    if (again.kind !== 'mine') return
    expect(pendingId({ key: KEY, ...again })).not.toBe(item.id)
    expect(await idsIn(run.sessionId)).toEqual([])
  })
})

describe('reopenStep', () => {
  it('gives the step back as one that never began; the next question has another id', async () => {
    const { run, step, item } = await parked()
    const closed = { events: [someEvent({ key: `${item.id}.closed`, at: { told: 1 }, type: 'pending.closed' })] }
    expect(await reopenStep(at.db, step, { writes: closed })).toBe(true)
    expect(await typesOf(run.sessionId)).toEqual(['pending.opened', 'pending.closed'])
    expect(await idsIn(run.sessionId)).toEqual([])
    const again = await claim(at.db, run, request)
    expect(again).toMatchObject({ kind: 'mine', begun: false, failures: 0 })
    if (again.kind === 'mine') expect(pendingId({ key: KEY, ...again })).not.toBe(item.id)
  })

  it('lets one of several answers win', async () => {
    const { run, step } = await parked()
    const event = (n: number) => ({
      events: [someEvent({ key: `e${n}`, at: { told: 1 }, type: 'pending.closed', data: { n } })],
    })
    const [reopened, settled, again] = await Promise.all([
      reopenStep(at.db, step, { writes: event(1) }),
      settleStep(at.db, step, { outcome: { kind: 'settled', gen: 0 }, writes: event(2) }),
      reopenStep(at.db, step, { writes: event(3) }),
    ])
    expect([reopened, settled.won, again].filter(Boolean)).toHaveLength(1)
    expect((await typesOf(run.sessionId)).filter((type) => type === 'pending.closed')).toHaveLength(1)
  })

  it('comes too late for a step that runs again: an old answer does not fence it', async () => {
    const { run, step } = await parked()
    await reopenStep(at.db, step, { writes: {} })
    const running = await take(at.db, run, request)
    expect(await reopenStep(at.db, step, { writes: {} })).toBe(false)
    expect(await settleStep(at.db, running, { outcome: { kind: 'settled', gen: 0 }, writes: {} })).toEqual({
      won: true,
    })
  })
})

describe('releaseStep', () => {
  it('counts a failure once, even if it is repeated because its reply was lost', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, request)
    expect(await releaseStep(at.db, step, { failed: true })).toBe(1)
    expect(await releaseStep(at.db, step, { failed: true })).toBe(1)
    expect(await claim(at.db, run, request)).toMatchObject({ kind: 'mine', failures: 1, begun: false })
  })

  it('may leave the step begun, so that the next worker does not run it', async () => {
    const run = await openSession(at.db)
    await releaseStep(at.db, await take(at.db, run, request), { failed: false, begun: true })
    expect(await claim(at.db, run, { ...request, owner: OTHER_OWNER })).toMatchObject({ kind: 'mine', begun: true })
  })
})

describe('readQuestions', () => {
  it('shows the oldest first, of the given sessions or of all', async () => {
    const { run, item } = await parked()
    const older = await take(at.db, run, { ...request, key: 't1.0.1' })
    await parkStep(at.db, older, { question: questionOf(older) })
    await at.db.pool.query(
      `update steps set pending = jsonb_set(pending, '{at}', '"2025-01-01T00:00:00.000Z"') where session_id = $1 and step_key = $2`,
      [older.sessionId, older.key],
    )
    const other = await parked()
    expect(await idsIn(run.sessionId)).toEqual([pendingId(older), item.id])
    const all = await readQuestions(at.db)
    expect(all.map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining([run.sessionId, other.run.sessionId]) as string[],
    )
    expect(all.find(({ sessionId }) => sessionId === run.sessionId)).toMatchObject({
      label: 'a session',
      agent: 'test',
    })
  })

  it('leaves out closed sessions', async () => {
    const { run } = await parked()
    await announceFacts(at.db, run, { key: 'a1', writes: { closed: true } })
    expect(await idsIn(run.sessionId)).toEqual([])
    expect(await listSessions(at.db, { ids: [run.sessionId] })).toMatchObject([{ pending: [] }])
  })
})
