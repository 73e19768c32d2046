/** What an outcome is committed with: all of it or nothing, once, and events without a gap. */
import { describe, expect, it } from 'vitest'
import { isDataError } from '../../src/store/database/database.ts'
import { appendLive, nextOffsets, type LivePiece } from '../../src/store/watching/event-log.ts'
import { getMessage } from '../../src/store/transcript/message-bodies.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { readSession } from '../../src/store/sessions/session-row.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { readTurn, readTurnNow, readTurnUsage } from '../../src/store/transcript/turns.ts'
import type { Writes } from '../../src/store/ledger/writes.ts'
import {
  someEvent,
  claim,
  countRows,
  newId,
  newSessionRow,
  openSession,
  opening,
  take,
  takeOver,
  userRecord,
} from './fixtures.ts'
import { countStatements, useDatabase } from './postgres.ts'
import { fieldOf, readEvents, readLive } from '../support/events.ts'

const at = useDatabase()

const everything = (rootId: string): Writes => ({
  records: [userRecord(2, 'the answer')],
  events: [
    someEvent({ key: 'm1.0.message', at: { told: 1 }, type: 'message.completed', data: { text: 'the answer' } }),
  ],
  usage: { rootId, model: 'gpt', inputTokens: 10, outputTokens: 3 },
  turns: [{ turn: 1, stopReason: 'end_turn', text: 'the answer', rounds: 0 }],
})

describe('settleStep', () => {
  it('adds up what a model counted in half tokens', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    const turns = [{ turn: 1, stopReason: 'end_turn', text: 'done', rounds: 0 } as const]
    const usage = { rootId: run.sessionId, model: 'own', inputTokens: 10.5, outputTokens: 2 }
    await settleStep(at.db, step, { outcome: {}, writes: { records: [userRecord(2)], usage, turns } })
    const now = await readTurnNow(at.db, run.sessionId, 'a')
    expect(now?.usage).toEqual({ inputTokens: 10.5, outputTokens: 2 })
    expect(now?.turn && (await readTurnUsage(at.db, run.sessionId, now.turn))).toEqual(now?.usage)
  })

  it('commits outcome, record, event, usage and turn in one statement', async () => {
    const run = await openSession(at.db)
    const { sessionId } = run
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    let settled: unknown
    const sent = await countStatements(
      async () => (settled = await settleStep(at.db, step, { outcome: { ok: true }, writes: everything(sessionId) })),
    )
    expect([sent, settled]).toEqual([1, { won: true }])
    expect((await readOwnRecords(at.db, { sessionId, gen: 0, seq: 2 })).map((r) => r.message.content)).toEqual([
      'message a',
      'the answer',
    ])
    expect((await readEvents(at.db, sessionId, 0)).map(({ type }) => type)).toEqual([
      'turn.started',
      'message.completed',
    ])
    const turn = await readTurn(at.db, { sessionId, gen: 0 }, 'a')
    expect(turn).toMatchObject({ status: 'ended', stopReason: 'end_turn', text: 'the answer', rounds: 0 })
    expect(turn && (await readTurnUsage(at.db, sessionId, turn))).toMatchObject({ inputTokens: 10, outputTokens: 3 })
  })

  it('writes nothing at all after the lease was raised', async () => {
    const run = await openSession(at.db)
    const { sessionId } = run
    const step = await take(at.db, run)
    await takeOver(at.db, run, step)
    expect(await settleStep(at.db, step, { outcome: { ok: true }, writes: everything(sessionId) })).toEqual({
      won: false,
      outcome: undefined,
    })
    for (const table of ['records', 'events', 'usage', 'turns'])
      expect(await countRows(at.db, table, sessionId)).toBe(0)
    expect((await nextOffsets(at.db, [sessionId])).get(sessionId)).toBe(0)
  })

  it('returns the first outcome to the second, and writes nothing of the second', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await settleStep(at.db, step, { outcome: { answer: 1 }, writes: { records: [userRecord(1)] } })
    expect(await settleStep(at.db, step, { outcome: { answer: 2 }, writes: { records: [userRecord(2)] } })).toEqual({
      won: false,
      outcome: { answer: 1 },
    })
    expect(await countRows(at.db, 'records', run.sessionId)).toBe(1)
  })

  it('lets one of two win that settle at the same moment', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    const settled = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        settleStep(at.db, step, {
          outcome: { n },
          writes: { events: [someEvent({ key: `e${n}`, at: { told: 1 }, type: 'x', data: { n } })] },
        }),
      ),
    )
    expect(settled.filter(({ won }) => won)).toHaveLength(1)
    const winner = settled.findIndex(({ won }) => won) + 1
    expect(settled.filter(({ won }) => !won)).toEqual(Array(3).fill({ won: false, outcome: { n: winner } }))
    expect((await readEvents(at.db, run.sessionId, 0)).map(({ data }) => data)).toEqual([{ n: winner }])
  })

  it('numbers the events of twenty steps that settle at once without a gap, and those of each step in order', async () => {
    const run = await openSession(at.db)
    const keys = Array.from({ length: 20 }, (_, i) => `t1.0.${i}`)
    const steps = await Promise.all(keys.map((key) => take(at.db, run, { key, kind: 'tool' })))
    await Promise.all(
      steps.map((step, i) =>
        settleStep(at.db, step, {
          outcome: {},
          writes: {
            records: [userRecord(i + 1)],
            events: [
              someEvent({ key: `${step.key}.a`, at: { told: 1 }, type: 'a', data: { step: i } }),
              someEvent({ key: `${step.key}.b`, at: { told: 1 }, type: 'b', data: { step: i } }),
            ],
          },
        }),
      ),
    )
    const events = await readEvents(at.db, run.sessionId, 0)
    expect(events.map(({ offset }) => offset)).toEqual(Array.from({ length: 40 }, (_, i) => i))
    expect((await nextOffsets(at.db, [run.sessionId])).get(run.sessionId)).toBe(40)
    for (const [i] of keys.entries()) {
      expect(events.filter(({ data }) => fieldOf(data, 'step') === i).map(({ type }) => type)).toEqual(['a', 'b'])
    }
  })

  it('skips an event whose key exists already, without a gap', async () => {
    const run = await openSession(at.db)
    const [first, second] = [await take(at.db, run, { key: 'a' }), await take(at.db, run, { key: 'b' })]
    await settleStep(at.db, first, {
      outcome: {},
      writes: { events: [someEvent({ key: 'same', at: { told: 1 }, type: 'first' })] },
    })
    await settleStep(at.db, second, {
      outcome: {},
      writes: {
        events: [
          someEvent({ key: 'same', at: { told: 1 }, type: 'again' }),
          someEvent({ key: 'other', at: { told: 1 }, type: 'second' }),
        ],
      },
    })
    expect((await readEvents(at.db, run.sessionId, 0)).map(({ offset, type }) => [offset, type])).toEqual([
      [0, 'first'],
      [1, 'second'],
    ])
  })

  it('never overwrites a record: a record of another step at the same place is an error, and nothing is written', async () => {
    const run = await openSession(at.db)
    const [first, second] = [await take(at.db, run, { key: 'a' }), await take(at.db, run, { key: 'b' })]
    await settleStep(at.db, first, { outcome: {}, writes: { records: [userRecord(1, 'first')] } })
    const writes = { records: [userRecord(1, 'second')], events: [someEvent({ key: 'b', at: { told: 1 }, type: 'b' })] }
    await expect(settleStep(at.db, second, { outcome: {}, writes })).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    expect(await countRows(at.db, 'events', run.sessionId)).toBe(0)
    expect(await claim(at.db, run, { key: 'b' })).toMatchObject({ kind: 'mineAlready' })
  })

  it('stores NUL and half an emoji as U+FFFD, in records, events, turns and outcome', async () => {
    const run = await openSession(at.db)
    const { sessionId } = run
    const poison = 'a\0b\uD83D'
    const step = await take(at.db, run, { opening: opening(1, 'a', 1) })
    await settleStep(at.db, step, {
      outcome: { text: poison },
      writes: {
        records: [userRecord(2, poison)],
        events: [someEvent({ key: 'e', at: { told: 1 }, type: 'e', data: { [poison]: [poison] } })],
        turns: [{ turn: 1, stopReason: 'end_turn', text: poison, rounds: 0 }],
      },
    })
    const cleaned = 'a\uFFFDb\uFFFD'
    expect(await claim(at.db, run)).toMatchObject({ outcome: { text: cleaned } })
    expect((await readOwnRecords(at.db, { sessionId, gen: 0, seq: 2 }))[1]?.message.content).toBe(cleaned)
    expect((await readEvents(at.db, sessionId, 1))[0]?.data).toEqual({ [cleaned]: [cleaned] })
    expect((await readTurn(at.db, { sessionId, gen: 0 }, 'a'))?.text).toBe(cleaned)
  })

  it('tells refused content from a store that is away, and leaves the step unsettled', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    const error: unknown = await settleStep(at.db, step, {
      outcome: {},
      writes: { records: [userRecord(2 ** 40)] },
    }).catch((reason: unknown) => reason)
    expect(isDataError(error)).toBe(true)
    expect(await settleStep(at.db, step, { outcome: { refused: true }, writes: {} })).toEqual({ won: true })
  })

  it('opens a child with its first records and message together with the outcome', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    const child = newSessionRow({
      sessionId: newId(),
      rootId: run.sessionId,
      parentId: run.sessionId,
      depth: 1,
      origin: 'call-1',
    })
    const settled = await settleStep(at.db, step, {
      outcome: {},
      writes: {
        child: { ...child, records: [userRecord(1, 'hello')], message: { messageId: 'first', text: 'do it' } },
      },
    })
    expect(settled).toEqual({ won: true })
    expect(await readSession(at.db, child.sessionId)).toMatchObject({ parentId: run.sessionId, depth: 1, gen: 0 })
    expect(
      (await readOwnRecords(at.db, { sessionId: child.sessionId, gen: 0, seq: 1 })).map((r) => r.message.content),
    ).toEqual(['hello'])
    expect(await getMessage(at.db, child.sessionId, 'first')).toBe('do it')
  })

  it('takes no session of another origin for its child: nothing is written, and the step may end in another way', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    const taken = newSessionRow({ origin: 'client/somebody' })
    await createSession(at.db, taken)
    const child = { ...newSessionRow({ ...taken, parentId: run.sessionId, depth: 1 }), origin: 'call-1' }
    const message = { messageId: 'first', text: 'do it' }
    const writes = { ...everything(run.sessionId), child: { ...child, records: [userRecord(1)], message } }
    await expect(settleStep(at.db, step, { outcome: {}, writes })).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
    for (const table of ['records', 'events', 'usage', 'turns'])
      expect(await countRows(at.db, table, run.sessionId)).toBe(0)
    expect(await getMessage(at.db, child.sessionId, 'first')).toBeUndefined()
    expect(await countRows(at.db, 'records', child.sessionId)).toBe(0)
    expect(await readSession(at.db, child.sessionId)).toMatchObject({ rootId: taken.sessionId, depth: 0 })
    expect(await settleStep(at.db, step, { outcome: { refused: true }, writes: {} })).toEqual({ won: true })
  })

  it('takes the child as it is that the same call opened in another generation', async () => {
    const run = await openSession(at.db)
    const child = { ...newSessionRow({ parentId: run.sessionId, depth: 1 }), origin: 'call-1' }
    const writes = { child: { ...child, records: [userRecord(1)], message: { messageId: 'first', text: 'do it' } } }
    const [first, again] = [await take(at.db, run, { key: 'a' }), await take(at.db, run, { key: 'b' })]
    expect(await settleStep(at.db, first, { outcome: {}, writes })).toEqual({ won: true })
    expect(await settleStep(at.db, again, { outcome: {}, writes })).toEqual({ won: true })
    expect(await countRows(at.db, 'records', child.sessionId)).toBe(1)
  })

  it('opens no child when the lease is lost', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await takeOver(at.db, run, step)
    const child = newSessionRow({ parentId: run.sessionId, depth: 1 })
    await settleStep(at.db, step, {
      outcome: {},
      writes: { child: { ...child, records: [userRecord(1)], message: { messageId: 'first', text: 'do it' } } },
    })
    expect(await readSession(at.db, child.sessionId)).toBeUndefined()
    expect(await getMessage(at.db, child.sessionId, 'first')).toBeUndefined()
    expect(await countRows(at.db, 'records', child.sessionId)).toBe(0)
  })
})

describe('live pieces', () => {
  const piece = (sessionId: string, lease: number, n: number, text: string): LivePiece => ({
    sessionId,
    stepKey: 'm1.0',
    lease,
    n,
    event: { type: 'message.delta', data: { text } },
  })

  it('are what a watcher that joins late gets, until the step is settled', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await appendLive(at.db, [piece(run.sessionId, 1, 0, 'Hel'), piece(run.sessionId, 1, 1, 'lo')])
    expect((await readLive(at.db, run.sessionId)).map(({ event }) => fieldOf(event.data, 'text'))).toEqual([
      'Hel',
      'lo',
    ])
    await settleStep(at.db, step, { outcome: {}, writes: {} })
    expect(await readLive(at.db, run.sessionId)).toEqual([])
  })

  it('of a higher lease replace those of a lower one', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await appendLive(at.db, [piece(run.sessionId, 1, 0, 'old')])
    await takeOver(at.db, run, step)
    await appendLive(at.db, [piece(run.sessionId, 2, 0, 'new')])
    expect((await readLive(at.db, run.sessionId)).map(({ event }) => fieldOf(event.data, 'text'))).toEqual(['new'])
  })

  it('that come after the settle, or from an attempt that was fenced, are dropped', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run)
    await takeOver(at.db, run, step)
    await appendLive(at.db, [piece(run.sessionId, 1, 0, 'zombie')])
    expect(await countRows(at.db, 'live', run.sessionId)).toBe(0)
    await settleStep(at.db, { ...step, lease: 2 }, { outcome: {}, writes: {} })
    await appendLive(at.db, [piece(run.sessionId, 2, 0, 'late')])
    expect(await countRows(at.db, 'live', run.sessionId)).toBe(0)
  })
})
