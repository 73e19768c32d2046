/** Temporal is rewound under the store: which run may write, what it sees, and what it does not have to do again. */
import { modelKey } from '../../src/protocol/keys.ts'
import { describe, expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { inputHash, nextRecord } from '../../src/store/ledger/hashes.ts'
import { lastSeq, readOwnRecords } from '../../src/store/transcript/records.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { type RunRef } from '../../src/store/ledger/abandon-future.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { readTurn } from '../../src/store/transcript/turns.ts'
import {
  someEvent,
  claim,
  countRows,
  openSession,
  opening,
  placeAt,
  resetRun,
  take,
  userRecord,
  NEW_RUN,
} from './fixtures.ts'
import { until } from '../support/until.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

const contents = async ({ sessionId }: RunRef, gen: number, seq: number): Promise<string[]> =>
  (await readOwnRecords(at.db, { sessionId, gen, seq })).map((record) => record.message.content)

/** A session whose generation 0 holds records 1..n, each by a settled step `m<i>.0` of its own. */
async function sessionOf(n: number): Promise<RunRef> {
  const run = await openSession(at.db)
  for (let i = 1; i <= n; i++) {
    const step = await take(at.db, run, { key: modelKey({ turn: i, round: 0 }), inputHash: `hash ${i}` })
    await settleStep(at.db, step, { outcome: { gen: 0, i }, writes: { records: [userRecord(i, `old ${i}`)] } })
  }
  return run
}

describe('resolveRun', () => {
  it('keeps the generation over continue-as-new, also twice', async () => {
    const run = await openSession(at.db)
    const second = { ...run, runId: 'run-2', prevRunId: 'run-1' }
    const third = { ...run, runId: 'run-3', prevRunId: 'run-2' }
    expect(await resolveRun(at.db, second)).toEqual({ kind: 'current', gen: 0 })
    expect(await resolveRun(at.db, third)).toEqual({ kind: 'current', gen: 0 })
    expect(await countRows(at.db, 'generations', run.sessionId)).toBe(0)
  })

  it('refuses a run that another one has taken over from', async () => {
    const run = await openSession(at.db)
    await resolveRun(at.db, { ...run, runId: 'run-2', prevRunId: 'run-1' })
    expect(await resolveRun(at.db, run)).toEqual({ kind: 'stale' })
    expect(await claim(at.db, run)).toEqual({ kind: 'stale' })
    expect(await countRows(at.db, 'steps', run.sessionId)).toBe(0)
  })

  it('opens a generation for a run it has never heard of', async () => {
    const run = await sessionOf(2)
    expect(await resolveRun(at.db, resetRun(run, 'reset', 1))).toEqual({ kind: 'current', gen: 1 })
    expect((await readSession(at.db, run.sessionId))?.gen).toBe(1)
    expect(await resolveRun(at.db, run)).toEqual({ kind: 'stale' })
  })

  it('refuses a run it has never heard of when Temporal has begun another since, and changes nothing', async () => {
    const run = await sessionOf(2)
    const late = { ...run, runId: 'late', fresh: true, isNewest: async () => false } as const
    expect(await resolveRun(at.db, late)).toEqual({ kind: 'stale' })
    expect(await claim(at.db, late, { key: 'm3.0' })).toEqual({ kind: 'stale' })
    expect(await countRows(at.db, 'generations', run.sessionId)).toBe(0)
    expect(await resolveRun(at.db, run)).toEqual({ kind: 'current', gen: 0 })
  })

  it('asks Temporal while no other run can be adopted, because the newest run of one moment may not be the newest of the next', async () => {
    const run = await sessionOf(2)
    const [first, second] = [resetRun(run, 'first', 1), resetRun(run, 'second', 1)]
    let later: Promise<unknown> | undefined
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const isNewest = async (): Promise<boolean> => {
      later = resolveRun(at.db, second)
      await until('the later run waits', async () => (await at.db.pool.query(waiting)).rowCount === 1)
      return true
    }
    expect(await resolveRun(at.db, { ...first, isNewest })).toEqual({ kind: 'current', gen: 1 })
    expect(await later).toEqual({ kind: 'current', gen: 2 })
    expect(await resolveRun(at.db, first)).toEqual({ kind: 'stale' })
  })

  it('opens one generation when several steps of the new run arrive at once', async () => {
    const run = await sessionOf(2)
    const reset = resetRun(run, 'reset', 1)
    const resolved = await Promise.all(Array.from({ length: 6 }, () => resolveRun(at.db, reset)))
    expect(resolved).toEqual(Array(6).fill({ kind: 'current', gen: 1 }))
    expect(await countRows(at.db, 'generations', run.sessionId)).toBe(1)
  })

  it('continues as new inside a later generation', async () => {
    const run = await sessionOf(1)
    const reset = resetRun(run, 'reset', 1)
    await resolveRun(at.db, reset)
    expect(await resolveRun(at.db, { ...reset, gen: 1, runId: 'reset-2', prevRunId: 'reset' })).toEqual({
      kind: 'current',
      gen: 1,
    })
  })

  it('descends from the latest generation that the store knows when the store is behind the workflow', async () => {
    const run = await sessionOf(1)
    expect(await resolveRun(at.db, { ...resetRun(run, 'unheard of', 1), gen: 7 })).toEqual({ kind: 'current', gen: 1 })
    const { rows } = await at.db.pool.query('select gen, parent_gen from generations where session_id = $1', [
      run.sessionId,
    ])
    expect(rows).toEqual([{ gen: 1, parent_gen: 0 }])
  })

  it('refuses a workflow that is started for a closed session, and goes on with one that is rewound', async () => {
    const run = await sessionOf(2)
    await announceFacts(at.db, run, { key: 'a1', writes: { closed: true } })
    const started = { ...resetRun(run, 'started', 0), fresh: true } as const
    expect(await resolveRun(at.db, started)).toEqual({ kind: 'closed', gen: 0 })
    expect(await claim(at.db, started)).toEqual({ kind: 'closed' })
    const event = someEvent({ key: 'a1.0', at: { told: 1 }, type: 'session.paused' })
    expect(await announceFacts(at.db, started, { key: 'a1', writes: { pause: null, events: [event] } })).toMatchObject({
      gen: 0,
    })
    expect(await countRows(at.db, 'events', run.sessionId)).toBe(0)
    expect(await readSession(at.db, run.sessionId)).toMatchObject({ gen: 0, closedAt: expect.any(Date) as Date })
    expect(await resolveRun(at.db, resetRun(run, 'reset', 1))).toEqual({ kind: 'current', gen: 1 })
  })

  it('lets a fresh run go on after the last record, also if other news comes before it is opened', async () => {
    const run = await sessionOf(2)
    const started = { ...resetRun(run, 'started', 0), fresh: true } as const
    expect(await announceFacts(at.db, started, { key: 'a1', writes: { events: [] } })).toMatchObject({ gen: 1 })
    expect(await lastSeq(at.db, { sessionId: run.sessionId, gen: 1 })).toBe(2)
  })

  it('says which session has no row', async () => {
    const run = { ...NEW_RUN, sessionId: 's-nowhere', runId: 'run-1', gen: 0, turn: 0, place: placeAt(0) }
    await expect(resolveRun(at.db, run)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('s-nowhere'),
    })
  })
})

describe('a new generation', () => {
  it('ends where it branched, and from there on its own records replace those of the abandoned future', async () => {
    const run = await sessionOf(3)
    const reset = resetRun(run, 'reset', 1)
    const step = await take(at.db, reset, { key: 'm2.0', inputHash: 'another question' })
    expect(step.gen).toBe(1)
    expect(await lastSeq(at.db, { sessionId: run.sessionId, gen: 1 })).toBe(1)
    await settleStep(at.db, step, { outcome: {}, writes: { records: [userRecord(2, 'new 2')] } })
    expect(await contents(run, 1, 2)).toEqual(['old 1', 'new 2'])
    expect(await lastSeq(at.db, { sessionId: run.sessionId, gen: 1 })).toBe(2)
    expect(await contents(run, 0, 3)).toEqual(['old 1', 'old 2', 'old 3'])
  })

  it('goes on inside a round: what was given out before the reset can still be read', async () => {
    const run = await sessionOf(3)
    await resolveRun(at.db, resetRun(run, 'reset', 3))
    expect(await contents(run, 1, 3)).toEqual(['old 1', 'old 2', 'old 3'])
  })

  it('of a new generation sees only what each of them kept of the one before', async () => {
    const run = await sessionOf(3)
    const first = resetRun(run, 'reset-1', 2)
    const step = await take(at.db, first, { key: 'm3.0', inputHash: 'another question' })
    await settleStep(at.db, step, { outcome: {}, writes: { records: [userRecord(3, 'first reset 3')] } })
    const second = { ...first, runId: 'reset-2', gen: 1, place: placeAt(1) }
    const again = await take(at.db, second, { key: 'm2.0', inputHash: 'a third question' })
    await settleStep(at.db, again, { outcome: {}, writes: { records: [userRecord(2, 'second reset 2')] } })
    expect(again.gen).toBe(2)
    expect(await contents(run, 2, 2)).toEqual(['old 1', 'second reset 2'])
    expect(await lastSeq(at.db, { sessionId: run.sessionId, gen: 2 })).toBe(2)
  })

  it('reuses what an earlier generation settled with the same input, with its records', async () => {
    const run = await sessionOf(2)
    const reset = resetRun(run, 'reset', 1)
    expect(await claim(at.db, reset, { key: 'm2.0', inputHash: 'hash 2' })).toMatchObject({
      kind: 'settled',
      gen: 1,
      outcome: { gen: 1, i: 2 },
    })
    expect(await lastSeq(at.db, { sessionId: run.sessionId, gen: 1 })).toBe(2)
    expect(await contents(run, 1, 2)).toEqual(['old 1', 'old 2'])
  })

  it('reuses a step once when two attempts ask at the same moment', async () => {
    const run = await sessionOf(2)
    const reset = resetRun(run, 'reset', 1)
    await resolveRun(at.db, reset)
    const request = { key: 'm2.0', inputHash: 'hash 2' }
    const claims = await Promise.allSettled([
      claim(at.db, reset, request),
      claim(at.db, reset, { ...request, owner: '2001' }),
    ])
    expect(claims.filter((each) => each.status === 'fulfilled' && each.value.kind === 'mine')).toEqual([])
    expect(claims.some((each) => each.status === 'fulfilled' && each.value.kind === 'settled')).toBe(true)
    expect(await contents(run, 1, 2)).toEqual(['old 1', 'old 2'])
  })

  it('asks again where the input is another', async () => {
    const run = await sessionOf(2)
    expect(await claim(at.db, resetRun(run, 'reset', 1), { key: 'm2.0', inputHash: 'other' })).toMatchObject({
      kind: 'mine',
      gen: 1,
    })
  })

  it('ends the turn that the reused step ended', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    await settleStep(at.db, step, {
      outcome: { gen: 0 },
      writes: {
        records: [userRecord(2)],
        turns: [{ turn: 1, stopReason: 'end_turn', text: 'done', rounds: 0 }],
      },
    })
    const reset = { ...resetRun(run, 'reset', 0), turn: 1 }
    expect(await claim(at.db, reset, { opening: opening(1, 'a', 1) })).toMatchObject({ kind: 'settled', gen: 1 })
    expect(await readTurn(at.db, { sessionId: run.sessionId, gen: 1 }, 'a')).toMatchObject({
      gen: 1,
      status: 'ended',
      text: 'done',
    })
  })

  it.each(['\0 pay', 'pay \ud83d'])('reuses what belongs to the message %j, as the store holds it', async (text) => {
    const run = await openSession(at.db)
    const ask = (content: string): Parameters<typeof claim>[2] => {
      const record = nextRecord('', 1, { role: 'user', content })
      return { inputHash: inputHash('model', record.chain), opening: { turn: 1, messageId: 'a', record } }
    }
    await settleStep(at.db, await take(at.db, run, ask(text)), {
      outcome: { gen: 0 },
      writes: { records: [userRecord(2)] },
    })
    const [stored = ''] = await contents(run, 0, 1)
    const again = { ...resetRun(run, 'again', 0), turn: 0 }
    expect(await claim(at.db, again, ask(stored))).toMatchObject({ kind: 'settled', gen: 1 })
  })

  it('shows the turn of a reused opening with the record that opened it', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    await settleStep(at.db, step, { outcome: { gen: 0 }, writes: { records: [userRecord(2, 'the answer')] } })
    await claim(at.db, { ...resetRun(run, 'reset', 0), turn: 1 }, { opening: opening(1, 'a', 1) })
    expect(await contents(run, 1, 2)).toEqual(['message a', 'the answer'])
  })

  it('opens a message again that only the abandoned future had opened', async () => {
    const run = await sessionOf(1)
    await take(at.db, run, { key: 'm2.0', opening: opening(2, 'a', 2) })
    const reset = { ...resetRun(run, 'reset', 1), turn: 1 }
    expect(await claim(at.db, reset, { key: 'm5.0', opening: opening(5, 'a', 2) })).toMatchObject({
      kind: 'mine',
      gen: 1,
    })
  })

  it('knows a message that its own past had opened', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    await settleStep(at.db, step, { outcome: { gen: 0 }, writes: { records: [userRecord(2)] } })
    const reset = { ...resetRun(run, 'reset', 2), turn: 1 }
    expect(await claim(at.db, reset, { key: 'm2.0', opening: opening(2, 'a', 3) })).toEqual({
      kind: 'duplicate',
      turn: 1,
    })
  })

  it('gives a step to one of many that want it at once', async () => {
    const run = await sessionOf(1)
    const reset = resetRun(run, 'reset', 1)
    const owners = Array.from({ length: 6 }, (_, i) => `${2000 + i}`)
    const claims = await Promise.allSettled(owners.map((owner) => claim(at.db, reset, { key: 'm2.0', owner })))
    expect(claims.filter((each) => each.status === 'fulfilled' && each.value.kind === 'mine')).toHaveLength(1)
    for (const each of claims) {
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    }
  })
})
