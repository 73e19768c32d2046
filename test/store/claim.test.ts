/**
 * Who gets a step: exactly one attempt, and only in the current run of the session. Steps of dead workers:
 * takeover.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { rejectionKey } from '../../src/protocol/events.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import { forceStep, proposeOutcome, releaseStep, settleStep } from '../../src/store/ledger/settle.ts'
import { readTurn } from '../../src/store/transcript/turns.ts'
import { someEvent, OTHER_OWNER, OWNER, claim, countRows, openSession, opening, take, takeOver } from './fixtures.ts'
import { countStatements, useDatabase } from './postgres.ts'
import { readEvents } from '../support/events.ts'

const at = useDatabase()

describe('claimStep', () => {
  it('takes a free step in one statement', async () => {
    const run = await openSession(at.db)
    let got: unknown
    expect(await countStatements(async () => (got = await claim(at.db, run)))).toBe(1)
    expect(got).toEqual({ kind: 'mine', gen: 0, lease: 1, failures: 0, deaths: 0, begun: false })
  })

  it('takes a step that opens a turn in one statement, with its record, turn and event', async () => {
    const run = await openSession(at.db)
    expect(await countStatements(() => take(at.db, run, { opening: opening(1, 'a', 1) }))).toBe(1)
    const { sessionId } = run
    expect((await readOwnRecords(at.db, { sessionId, gen: 0, seq: 1 })).map((r) => r.message.content)).toEqual([
      'message a',
    ])
    expect(await readTurn(at.db, { sessionId, gen: 0 }, 'a')).toMatchObject({ turn: 1, status: 'open' })
    expect((await readEvents(at.db, sessionId, 0)).map(({ offset, type }) => [offset, type])).toEqual([
      [0, 'turn.started'],
    ])
  })

  it('gives a step to one of many that want it at once', async () => {
    const run = await openSession(at.db)
    const owners = Array.from({ length: 8 }, (_, i) => `${2000 + i}`)
    const claims = await Promise.all(owners.map((owner) => claim(at.db, run, { owner })))
    expect(claims.filter(({ kind }) => kind === 'mine')).toHaveLength(1)
    expect(claims.filter(({ kind }) => kind === 'busy')).toHaveLength(7)
  })

  it('names the owner of a step that is under way, and says so if the caller owns it', async () => {
    const run = await openSession(at.db)
    await take(at.db, run)
    expect(await claim(at.db, run, { owner: OTHER_OWNER })).toEqual({ kind: 'busy', gen: 0, lease: 1, owner: OWNER })
    expect(await claim(at.db, run)).toEqual({ kind: 'mineAlready', gen: 0, lease: 1 })
  })

  it('returns the outcome of a settled step', async () => {
    const run = await openSession(at.db)
    await settleStep(at.db, await take(at.db, run), { outcome: { answer: 42 }, writes: {} })
    expect(await claim(at.db, run, { owner: OTHER_OWNER })).toEqual({
      kind: 'settled',
      gen: 0,
      outcome: { answer: 42 },
    })
  })

  it('refuses the same step with another input', async () => {
    const run = await openSession(at.db)
    await take(at.db, run)
    await expect(claim(at.db, run, { inputHash: 'other' })).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringMatching(new RegExp(`${run.sessionId}.*m1\\.0`)),
    })
  })

  it('begins nothing while the session is paused', async () => {
    const run = await openSession(at.db)
    await at.db.pool.query(`update sessions set pause = '{"reason":"user"}' where id = $1`, [run.sessionId])
    expect(await claim(at.db, run, { opening: opening(1, 'a', 1) })).toEqual({ kind: 'paused' })
    for (const table of ['steps', 'records', 'turns', 'events'])
      expect(await countRows(at.db, table, run.sessionId)).toBe(0)
  })

  it('begins nothing once the session is closed', async () => {
    const run = await openSession(at.db)
    await at.db.pool.query('update sessions set closed_at = now() where id = $1', [run.sessionId])
    expect(await claim(at.db, run)).toEqual({ kind: 'closed' })
    expect(await countRows(at.db, 'steps', run.sessionId)).toBe(0)
  })

  it('returns the outcome of a settled step also while the session is paused', async () => {
    const run = await openSession(at.db)
    await settleStep(at.db, await take(at.db, run), { outcome: { answer: 42 }, writes: {} })
    await at.db.pool.query(`update sessions set pause = '{"reason":"user"}' where id = $1`, [run.sessionId])
    expect(await claim(at.db, run)).toMatchObject({ kind: 'settled', outcome: { answer: 42 } })
  })

  it('opens a message once: another turn with its id is a duplicate and writes nothing', async () => {
    const run = await openSession(at.db)
    await take(at.db, run, { opening: opening(1, 'a', 1) })
    const again = await claim(at.db, run, { key: 'm2.0', opening: opening(2, 'a', 2) })
    expect(again).toEqual({ kind: 'duplicate', turn: 1 })
    expect(await countRows(at.db, 'records', run.sessionId)).toBe(1)
    expect(await countRows(at.db, 'steps', run.sessionId)).toBe(1)
  })

  it('opens no message that was refused before, also if the workflow has forgotten that', async () => {
    const run = await openSession(at.db)
    const refusal = someEvent({
      key: rejectionKey('a'),
      at: { told: 1 },
      type: 'message.rejected',
      data: { reason: 'full' },
    })
    await announceFacts(at.db, run, { key: 'a1', writes: { events: [refusal] } })
    expect(await claim(at.db, run, { opening: opening(1, 'a', 1) })).toEqual({ kind: 'duplicate' })
    const started = { ...run, runId: 'run-2', fresh: true } as const
    expect(await claim(at.db, started, { opening: opening(1, 'a', 1) })).toEqual({ kind: 'duplicate' })
    const reset = { ...run, runId: 'run-3', place: { seq: 1, told: 0, round: 0, asking: true } } as const
    expect(await claim(at.db, reset, { opening: opening(1, 'a', 1) })).toMatchObject({ kind: 'mine', gen: 2 })
  })

  it('opens a message once when two turns want it at the same moment', async () => {
    const run = await openSession(at.db)
    const claims = await Promise.allSettled([
      claim(at.db, run, { key: 'm1.0', opening: opening(1, 'a', 1) }),
      claim(at.db, run, { key: 'm2.0', opening: opening(2, 'a', 2) }),
    ])
    expect(claims.filter((each) => each.status === 'fulfilled' && each.value.kind === 'mine')).toHaveLength(1)
    expect(await countRows(at.db, 'turns', run.sessionId)).toBe(1)
    expect(await countRows(at.db, 'records', run.sessionId)).toBe(1)
  })

  it('gives a released step to the next attempt, with its failures, and says that nothing is under way', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    expect(await releaseStep(at.db, step, { failed: true })).toBe(1)
    expect(await claim(at.db, run, { owner: OTHER_OWNER })).toEqual({
      kind: 'mine',
      gen: 0,
      lease: 2,
      failures: 1,
      deaths: 0,
      begun: false,
    })
  })

  it('forgets the failures of a step that is released for a pause', async () => {
    const run = await openSession(at.db)
    const first = await take(at.db, run)
    await releaseStep(at.db, first, { failed: true })
    const second = await take(at.db, run)
    expect(await releaseStep(at.db, second, { failed: false, reset: true })).toBe(0)
    expect(await claim(at.db, run)).toMatchObject({ kind: 'mine', lease: 3, failures: 0, begun: false })
  })

  it('lets nobody release a step that was taken over', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await takeOver(at.db, run, step)
    await releaseStep(at.db, step, { failed: true })
    expect(await claim(at.db, run, { owner: OWNER })).toEqual({ kind: 'busy', gen: 0, lease: 2, owner: OTHER_OWNER })
  })

  it('commits at once what must not be repeated, and later what may be repeated', async () => {
    const settingOf = async (pool: 'pool' | 'lazyPool'): Promise<unknown> =>
      (await at.db[pool].query('show synchronous_commit')).rows
    expect(await settingOf('pool')).toEqual([{ synchronous_commit: 'on' }])
    expect(await settingOf('lazyPool')).toEqual([{ synchronous_commit: 'off' }])
  })

  it('shows a claim to everybody, also one whose commit may be lost', async () => {
    const run = await openSession(at.db)
    await take(at.db, run, { durable: false })
    expect(await claim(at.db, run, { owner: OTHER_OWNER })).toMatchObject({ kind: 'busy' })
  })
})

describe('a step whose worker has died', () => {
  it('is taken by one of two that found it', async () => {
    const run = await openSession(at.db)
    await releaseStep(at.db, await take(at.db, run), { failed: false, begun: true })
    const claims = await Promise.all(['3001', '3002'].map((owner) => claim(at.db, run, { owner })))
    expect(claims.toSorted((a, b) => b.kind.localeCompare(a.kind))).toMatchObject([
      { kind: 'mine', gen: 0, lease: 2, failures: 0, deaths: 0, begun: true },
      { kind: 'busy', gen: 0, lease: 2 },
    ])
  })
})

describe('forceStep', () => {
  const proposing = { key: 't1.0.0', kind: 'tool', name: 'send_mail' } as const

  it('leaves a step that never began as one that nobody has begun', async () => {
    const run = await openSession(at.db)
    await forceStep(at.db, { run, ...proposing })
    expect(await claim(at.db, run, { ...proposing })).toMatchObject({ kind: 'mine', begun: false })
    await expect(claim(at.db, run, { ...proposing, inputHash: 'other' })).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
    })
  })

  it('keeps the worker that runs the step from settling it, and tells the next one that it had begun', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { ...proposing })
    await forceStep(at.db, { run, ...proposing })
    expect(await settleStep(at.db, step, { outcome: { kind: 'late' }, writes: {} })).toEqual({
      won: false,
      outcome: undefined,
    })
    expect(await claim(at.db, run, { ...proposing })).toMatchObject({ kind: 'mine', begun: true })
  })
})

describe('proposeOutcome', () => {
  const proposing = { key: 't1.0.0', kind: 'tool', name: 'send_mail' } as const
  const timedOut = () => ({ outcome: { kind: 'timedOut' }, writes: {} })

  it('settles a step that never began, and a late attempt reads that outcome', async () => {
    const run = await openSession(at.db)
    expect(await proposeOutcome(at.db, { run, ...proposing }, timedOut)).toEqual({ kind: 'timedOut' })
    expect(await claim(at.db, run, { ...proposing })).toEqual({
      kind: 'settled',
      gen: 0,
      outcome: { kind: 'timedOut' },
    })
  })

  it('returns the outcome that exists already', async () => {
    const run = await openSession(at.db)
    await settleStep(at.db, await take(at.db, run, { ...proposing }), { outcome: { kind: 'sent' }, writes: {} })
    expect(await proposeOutcome(at.db, { run, ...proposing }, timedOut)).toEqual({ kind: 'sent' })
  })

  it('fences a living attempt, which then reads the outcome that won', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { ...proposing })
    await proposeOutcome(at.db, { run, ...proposing }, timedOut)
    expect(await settleStep(at.db, step, { outcome: { kind: 'sent' }, writes: {} })).toEqual({
      won: false,
      outcome: { kind: 'timedOut' },
    })
  })

  it('agrees on one outcome when two propose at once', async () => {
    const run = await openSession(at.db)
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((kind) =>
        proposeOutcome(at.db, { run, ...proposing }, () => ({ outcome: { kind }, writes: {} })),
      ),
    )
    expect(new Set(outcomes.map(({ kind }) => kind)).size).toBe(1)
  })
})
