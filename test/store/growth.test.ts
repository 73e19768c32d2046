/** What a step costs the store does not grow with the session. The cost is counted in rows that PostgreSQL reads. */
import { modelKey } from '../../src/protocol/keys.ts'
import { expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { closedPrefix } from '../../src/client/closed-prefix.ts'
import type { ClientDeps } from '../../src/client/client-deps.ts'
import { createTurnHandle } from '../../src/client/turn-handle.ts'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { nextRecord } from '../../src/store/ledger/hashes.ts'
import type { Listener } from '../../src/store/database/listener.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { type RunRef } from '../../src/store/ledger/abandon-future.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { listSessions } from '../../src/store/sessions/sessions.ts'
import { readTurnNow } from '../../src/store/transcript/turns.ts'
import { findPerhapsBusySessions } from '../../src/store/ledger/workers.ts'
import type { NewRecord } from '../../src/store/ledger/writes.ts'
import { someEvent, newSessionRow, openSession, opening, take, userRecord } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

it('reads no more rows in a session of 2,000 turns than in a new one', async () => {
  const [early, late] = [await rowsOfTurn(0), await rowsOfTurn(2000)]
  expect(early).toBeGreaterThan(0)
  expect(late).toBeLessThan(early + 10)
})

it('reads only the end of a transcript to find where a fork may branch', async () => {
  const run = await openSession(at.db)
  const { sessionId } = run
  const calls = Array.from({ length: 100 }, (_, i) => ({ id: `c${i}`, name: 'look', arguments: '{}' }))
  const said = (messages: Message[]): NewRecord[] => messages.map((message, i) => nextRecord('', i + 1, message))
  const past = Array.from({ length: 4000 }, (): Message => ({ role: 'user', content: '' }))
  const results = calls.map(({ id }): Message => ({ role: 'tool', content: '', toolCallId: id }))
  const all = said([...past, { role: 'assistant', content: '', toolCalls: calls }, ...results])
  const missing = all.find(({ seq }) => seq === 4050)
  await announceFacts(at.db, run, { key: 'seed', writes: { records: all.filter((record) => record !== missing) } })

  const db = openDatabase(at.url, { max: 1 })
  try {
    const begun = await rowsRead(db)
    expect(await closedPrefix(db, { sessionId, gen: 0 })).toBe(4000)
    expect((await rowsRead(db)) - begun).toBeLessThan(1000)
    await announceFacts(at.db, run, { key: 'last', writes: { records: missing ? [missing] : [] } })
    expect(await closedPrefix(db, { sessionId, gen: 0 })).toBe(4101)
  } finally {
    await db.close()
  }
})

it('sees that a session is paused without reading the turns that it had', async () => {
  const run = await openSession(at.db)
  const { sessionId } = run
  await at.db.pool.query(
    `insert into turns (session_id, gen, turn, message_id, status, start_seq)
     select $1, 0, n, 'old-' || n, 'ended', n from generate_series(1, 2000) as n`,
    [sessionId],
  )
  await announceFacts(at.db, run, { key: 'a1', writes: { pause: { reason: 'user', message: 'a break' } } })
  const db = openDatabase(at.url, { max: 1 })
  try {
    const begun = await rowsRead(db)
    const turn = createTurnHandle({ db, listener: silent } as ClientDeps, { sessionId, messageId: 'new' })
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
    expect((await rowsRead(db)) - begun).toBeLessThan(10)
  } finally {
    await db.close()
  }
})

it.each([
  ['lists', (db: Database, agent: string) => listSessions(db, { agent }).then((all) => all.map(({ id }) => id))],
  [
    'looks for those a dead worker had, in',
    (db: Database, agent: string) => findPerhapsBusySessions(db, { agent, namespace: 'default' }, 10),
  ],
])('%s sessions of 3,000 turns without reading the turns they had', async (how, find) => {
  const agent = `agent that ${how}`
  const { config } = newSessionRow()
  const runs = []
  for (const gen of [0, 1]) {
    const run = await openSession(at.db, { config: { ...config, agent } })
    await turnsBefore(run.sessionId, 3000)
    if (gen > 0) await rewind(run)
    runs.push(run)
  }
  const db = openDatabase(at.url, { max: 1 })
  try {
    const begun = await rowsRead(db)
    expect((await find(db, agent)).toSorted()).toEqual(runs.map(({ sessionId }) => sessionId).toSorted())
    expect((await rowsRead(db)) - begun).toBeLessThan(20)
    expect((await listSessions(db, { agent })).map(({ turns, records }) => [turns, records])).toEqual([
      [3000, 6000],
      [3000, 6000],
    ])
  } finally {
    await db.close()
  }
})

const silent: Listener = { connected: () => false, subscribe: () => () => undefined, close: async () => undefined }

/** A reset to the place after its last record. */
async function rewind(run: RunRef): Promise<void> {
  const place = { seq: 6000, told: 0 }
  expect(await resolveRun(at.db, { ...run, runId: 'run-2', turn: 3000, place })).toEqual({ kind: 'current', gen: 1 })
}

/** Turns that have ended, each with two events, two records and a step. */
async function turnsBefore(sessionId: string, turns: number): Promise<void> {
  await at.db.pool.query(
    `with n as (select generate_series(1, $2::int) as n),
       t as (insert into turns (session_id, gen, turn, message_id, status, start_seq)
             select $1, 0, n, 'old-' || n, 'ended', 2 * n - 1 from n),
       r as (insert into records (session_id, gen, seq, message, chain) select $1, 0, generate_series(1, 2 * $2), '{}', ''),
       s as (insert into steps (session_id, gen, step_key, kind, name, input_hash, lease, outcome)
             select $1, 0, 'm' || n || '.0', 'model', 'gpt', 'h', 1, '{}' from n),
       u as (insert into usage (session_id, gen, step_key, root_id, model, usage)
             select $1, 0, 'm' || n || '.0', $1, 'gpt', '{"inputTokens": 1, "outputTokens": 1}' from n),
       e as (insert into events (session_id, "offset", gen, key, type, data)
             select $1, o, 0, 'old-' || o, 'turn.started', '{}' from generate_series(0, 2 * $2 - 1) as o)
     update sessions set next_offset = 2 * $2 where id = $1`,
    [sessionId, turns],
  )
}

/** The rows that one turn reads after `before` turns. */
async function rowsOfTurn(before: number): Promise<number> {
  const run = await openSession(at.db)
  const { sessionId } = run
  await turnsBefore(sessionId, before)
  // One connection, because a backend counts only what it has read itself.
  const db = openDatabase(at.url, { max: 1 })
  try {
    const [turn, seq] = [before + 1, 2 * before + 1]
    const begun = await rowsRead(db)
    const step = await take(db, run, { key: modelKey({ turn, round: 0 }), opening: opening(turn, 'new', seq) })
    await settleStep(db, step, {
      outcome: { kind: 'done' },
      writes: {
        records: [userRecord(seq + 1)],
        events: [someEvent({ key: `message ${turn}`, at: { told: 1 }, type: 'message.completed' })],
        usage: { rootId: sessionId, model: 'gpt', inputTokens: 1, outputTokens: 1 },
        turns: [{ turn, stopReason: 'end_turn', text: 'done', rounds: 0 }],
      },
    })
    expect(await readTurnNow(db, sessionId, 'new')).toMatchObject({
      turn: { turn, status: 'ended' },
      usage: { inputTokens: 1, outputTokens: 1 },
    })
    return (await rowsRead(db)) - begun
  } finally {
    await db.close()
  }
}

async function rowsRead(db: Database): Promise<number> {
  await db.pool.query('select pg_stat_force_next_flush()')
  const { rows } = await db.pool.query<{ read: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_user_tables
     where relname in ('turns', 'records', 'steps', 'events', 'usage')`,
  )
  return rows[0]?.read ?? NaN
}
