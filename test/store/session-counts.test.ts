/** The states of an agent's sessions, in numbers. */
import { expect, it } from 'vitest'
import { announceFacts } from '../../src/store/ledger/announce-facts.ts'
import { parkStep } from '../../src/store/ledger/parked.ts'
import { pendingId } from '../../src/protocol/keys.ts'
import { countSessions } from '../../src/store/sessions/session-counts.ts'
import { someEvent, NAMESPACE, newSessionRow, openSession, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const config = { ...newSessionRow().config, agent: 'counted' }
const count = () => countSessions(at.db, 'counted', NAMESPACE)

it('counts nothing in an empty store, and leaves out other agents, closed sessions and other namespaces', async () => {
  const nothing = { states: new Map(), pauses: new Map(), pending: new Map(), oldest: { paused: 0, pending: 0 } }
  await openSession(at.db)
  expect(await count()).toEqual(nothing)
  const [closed, elsewhere] = [await openSession(at.db, { config }), await openSession(at.db, { config })]
  await at.db.pool.query('update sessions set closed_at = now() where id = $1', [closed.sessionId])
  await at.db.pool.query(`update sessions set namespace = 'other' where id = $1`, [elsewhere.sessionId])
  expect(await count()).toEqual(nothing)
})

it('counts by state and reason, counts what waits for a person, and says since when', async () => {
  const [paused, asking] = [await openSession(at.db, { config }), await openSession(at.db, { config })]
  await announceFacts(at.db, paused, {
    key: 'a1',
    writes: {
      pause: { reason: 'budget', message: 'spent' },
      events: [someEvent({ key: 'a1.paused', at: { told: 1 }, type: 'session.paused' })],
    },
  })
  await at.db.pool.query(`update events set at = now() - interval '1 hour' where session_id = $1`, [paused.sessionId])
  const step = await take(at.db, asking, { key: 't1.0.0', kind: 'tool' })
  const question = { id: pendingId(step), kind: 'unknown_outcome', name: 'pay', detail: '' } as never
  expect(await parkStep(at.db, step, { question })).toBeDefined()
  const { states, pauses, pending, oldest } = await count()
  expect([Object.fromEntries(states), Object.fromEntries(pauses), Object.fromEntries(pending)]).toEqual([
    { paused: 1, idle: 1 },
    { budget: 1 },
    { unknown_outcome: 1 },
  ])
  expect(oldest.paused).toBeGreaterThan(3500)
  expect(oldest.pending).toBeLessThan(3500)
})
