/** Roots with the totals of their trees: what they count, exact pages, and how much a page reads in a large store. */
import { expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { updateIndexes } from '../../src/store/schema/indexes.ts'
import { parkStep } from '../../src/store/ledger/parked.ts'
import { listRoots } from '../../src/store/sessions/roots.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { pendingId } from '../../src/protocol/keys.ts'
import { newSessionRow, openSession, someEvent, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { rowsRead } from './rows-read.ts'

const at = useDatabase()
const agentOf = (agent: string): { config: ReturnType<typeof newSessionRow>['config'] } => ({
  config: { ...newSessionRow().config, agent },
})

it('counts the sessions of the tree, what is open, what waits, and what models have used', async () => {
  const row = agentOf('counted')
  const root = await openSession(at.db, row)
  const rootId = root.sessionId
  const below = { ...row, rootId, parentId: rootId, depth: 1 }
  const [asking, closed] = [await openSession(at.db, below), await openSession(at.db, below)]
  const [other] = [await openSession(at.db, row)]
  const paused = [someEvent({ key: 'a1.paused', at: { told: 1 }, type: 'session.paused' })]
  await announceFacts(at.db, root, {
    key: 'a1',
    writes: { pause: { reason: 'user', message: 'lunch' }, events: paused },
  })
  const step = await take(at.db, asking, { key: 't1.0.0', kind: 'tool' })
  const question = { id: pendingId(step), kind: 'unknown_outcome', name: 'pay', detail: '' } as never
  expect(await parkStep(at.db, step, { question })).toBeTruthy()
  const spent = { rootId, model: 'm', inputTokens: 7, outputTokens: 3 }
  await settleStep(at.db, await take(at.db, closed), { outcome: {}, writes: { usage: { ...spent, costUsd: 0.5 } } })
  await settleStep(at.db, await take(at.db, asking), { outcome: {}, writes: { usage: spent } })
  await at.db.pool.query('update sessions set closed_at = now() where id = $1', [closed.sessionId])
  const { rows } = await at.db.pool.query(
    `update events set at = now() + interval '1 hour' where session_id = $1 returning at`,
    [rootId],
  )

  const roots = await listRoots(at.db, { agent: 'counted' })
  expect(roots.map(({ id, state, tree }) => [id, state, tree])).toEqual([
    [
      other.sessionId,
      'idle',
      { sessions: 1, open: 1, waiting: 0, inputTokens: 0, outputTokens: 0, lastAt: roots[0]?.createdAt },
    ],
    [
      rootId,
      'paused',
      { sessions: 3, open: 2, waiting: 2, inputTokens: 14, outputTokens: 6, costUsd: 0.5, lastAt: rows[0].at },
    ],
  ])
  expect((await listRoots(at.db, { agent: 'counted', state: 'paused' })).map(({ id }) => id)).toEqual([rootId])
  expect(await listRoots(at.db, { agent: 'nobody' })).toEqual([])
})

it('reads on after the last root that was seen, without a gap and without a repetition, also within a millisecond', async () => {
  const row = agentOf('paged')
  for (let n = 0; n < 9; n++) {
    const { sessionId } = await openSession(at.db, row)
    // Three of them in each millisecond, because a `Date` knows no shorter time.
    const [millisecond, microsecond] = [Math.floor(n / 3), 100 * (n % 3)]
    await at.db.pool.query(
      `update sessions set created_at = $2::timestamptz + make_interval(secs => $3) where id = $1`,
      [sessionId, '2026-01-01T00:00:00Z', millisecond / 1e3 + microsecond / 1e6],
    )
  }
  const seen: string[] = []
  for (let before: Date | undefined; ;) {
    const page = await listRoots(at.db, { agent: 'paged', limit: 2, ...(before && { before }) })
    if (page.length === 0) break
    seen.push(...page.map(({ id }) => id))
    before = page.at(-1)?.createdAt
  }
  expect([seen.length, new Set(seen).size]).toEqual([9, 9])
})

it('reads only the last turn and the last record of each root, with 500 roots of 20 long sessions each', async () => {
  await updateIndexes(at.db)
  await at.db.pool.query(`
    insert into sessions (id, root_id, parent_id, depth, agent, label, config, created_at)
    select 'r' || r || '.' || s, 'r' || r || '.0', case when s > 0 then 'r' || r || '.0' end, sign(s), 'many', 'x', '{"agent":"many"}', now() - r * interval '1 second'
    from generate_series(1, 500) r, generate_series(0, 19) s order by r, s;
    insert into turns (session_id, gen, turn, message_id, status, start_seq)
    select id, 0, n, 'm' || n, 'ended', n from sessions, generate_series(1, 10) n where agent = 'many';
    insert into records (session_id, gen, seq, message, chain)
    select id, 0, n, '{"role":"user","content":"words"}', '' from sessions, generate_series(1, 10) n where agent = 'many';
    insert into events (session_id, "offset", gen, key, type, data)
    select id, n, 0, 'e' || n, 'turn.completed', '{}' from sessions, generate_series(0, 9) n where agent = 'many';
    insert into usage (session_id, gen, step_key, root_id, model, usage)
    select id, 0, 'm' || n, root_id, 'm', '{"inputTokens":10,"outputTokens":1}' from sessions, generate_series(1, 10) n where agent = 'many';
    analyze`)
  const before = await rowsRead(at.db)
  const page = await listRoots(at.db, { agent: 'many', limit: 50 })
  const after = await rowsRead(at.db)
  const read = (table: string): number => (after.get(table) ?? NaN) - (before.get(table) ?? NaN)
  expect(page).toHaveLength(50)
  expect(page[49]?.tree).toMatchObject({ sessions: 20, open: 20, inputTokens: 2000, outputTokens: 200 })
  expect(read('turns')).toBeLessThanOrEqual(2 * 50)
  expect(read('records')).toBeLessThanOrEqual(2 * 50)
  // One event of each session of the trees, and each session a few times.
  expect(read('events')).toBeLessThanOrEqual(2 * 50 * 20)
  expect(read('sessions')).toBeLessThanOrEqual(5 * 50 * 20)
  expect(await listRoots(at.db, { agent: 'many', limit: 500 })).toHaveLength(500)
})
