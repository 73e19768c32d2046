/** Which workers exist, which of them searches for the steps of a dead one, and in which sessions. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { holdLiveness, isAlive, newBootId } from '../../src/store/ledger/liveness.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import {
  claimDeadWorkers,
  enterWorker,
  findPerhapsBusySessions,
  giveUpDeadWorkers,
  leaveWorker,
} from '../../src/store/ledger/workers.ts'
import type { Writes } from '../../src/store/ledger/writes.ts'
import { until } from '../support/until.ts'
import { newSessionRow, openSession, opening, take, visit, NAMESPACE, taker } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
/** As if somebody had been on this server for long. */
const NO_GRACE = 0
const END: Writes = { turns: [{ turn: 1, stopReason: 'end_turn', text: '', rounds: 0 }] }

beforeAll(() => visit(at.db))

describe('claimDeadWorkers', () => {
  const die = async (): Promise<string> => {
    const dead = newBootId()
    const held = await holdLiveness(at.url, dead)
    await enterWorker(at.db, { bootId: dead, agent: 'test', namespace: NAMESPACE })
    await held.release()
    await expect.poll(() => isAlive(at.db, dead, { graceMs: NO_GRACE })).toBe(false)
    return dead
  }
  const survivor = async () => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    onTestFinished(() => held.release().catch(() => undefined))
    const claimed = async () => (await claimDeadWorkers(at.db, taker(bootId), NO_GRACE)).map((dead) => dead.bootId)
    return { bootId, claimed, die: () => held.release() }
  }

  it('gives each dead worker to one of those that look at once, and that one keeps it', async () => {
    const survivors = await Promise.all(Array.from({ length: 8 }, survivor))
    const dead = Array.from({ length: 50 }, () => newBootId())
    await at.db.pool.query(`insert into workers (boot_id, agent, namespace) select unnest($1::text[]), 'test', $2`, [
      dead,
      NAMESPACE,
    ])
    const look = () => Promise.all(survivors.map((one) => one.claimed()))
    const first = await look()
    expect(dead.map((bootId) => first.filter((all) => all.includes(bootId)).length)).toEqual(dead.map(() => 1))
    expect((await look()).map((all) => all.toSorted())).toEqual(first.map((all) => all.toSorted()))
  })

  it('does not give it to a worker that asked just before another one got it', async () => {
    const dead = [await die(), await die(), await die()]
    const [one, two] = [await survivor(), await survivor()]
    const tx = await at.db.pool.connect()
    await tx.query('begin')
    await tx.query('update workers set searcher = $2 where boot_id = any($1)', [dead, one.bootId])
    const claiming = two.claimed()
    await until('it waits', async () => {
      const waiting = await at.db.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting.rowCount === 1
    })
    await tx.query('commit')
    tx.release()
    const claimed = await claiming
    expect(dead.filter((bootId) => claimed.includes(bootId))).toEqual([])
  })

  it('gives it to another one if the first gives up or dies', async () => {
    const dead = await die()
    const [one, two] = [await survivor(), await survivor()]
    expect(await one.claimed()).toContain(dead)
    await giveUpDeadWorkers(at.db, one.bootId)
    expect(await two.claimed()).toContain(dead)
    expect(await one.claimed()).not.toContain(dead)
    await two.die()
    await expect.poll(() => one.claimed()).toContain(dead)
    await leaveWorker(at.db, dead)
    expect(await one.claimed()).not.toContain(dead)
  })

  it('leaves alone: living workers, workers that may be on their way, and the one that asks', async () => {
    const dead = await die()
    const [one, two] = [await survivor(), await survivor()]
    for (const { bootId } of [one, two]) await enterWorker(at.db, { bootId, agent: 'test', namespace: NAMESPACE })
    await at.db.pool.query('delete from holders where boot_id = $1', [dead])
    expect((await claimDeadWorkers(at.db, taker(one.bootId), 3_600_000_000)).map(({ bootId }) => bootId)).not.toContain(
      dead,
    )
    const claimed = await one.claimed()
    expect(claimed).toContain(dead)
    expect(claimed).not.toContain(one.bootId)
    expect(claimed).not.toContain(two.bootId)
    await one.die()
    await expect.poll(() => isAlive(at.db, one.bootId, { graceMs: NO_GRACE })).toBe(false)
    expect(await one.claimed()).not.toContain(one.bootId)
  })
})

describe('findPerhapsBusySessions', () => {
  const busyOf = (agent: string) => findPerhapsBusySessions(at.db, { agent, namespace: NAMESPACE }, 1000)
  const of = (agent: string) => ({ config: { ...newSessionRow().config, agent } })

  it('finds sessions with an open turn and those that were busy last, however many were never opened', async () => {
    const agent = 'with many that were never opened'
    const [open, ended] = [await openSession(at.db, of(agent)), await openSession(at.db, of(agent))]
    await settleStep(at.db, await take(at.db, ended, { opening: opening(1, 'a', 1) }), { outcome: {}, writes: END })
    await take(at.db, open, { opening: opening(1, 'a', 1) })
    await at.db.pool.query(
      `insert into sessions (id, root_id, agent, label, config)
       select 'never-' || n, 'never-' || n, $1, '', '{}' from generate_series(1, 1500) as n`,
      [agent],
    )
    const found = await busyOf(agent)
    expect(found).toHaveLength(1000)
    expect(found).toEqual(expect.arrayContaining([open.sessionId, ended.sessionId]))
    expect(found.indexOf(open.sessionId)).toBeLessThan(found.indexOf(ended.sessionId))
  })

  it('finds those that were never opened, however many are busy', async () => {
    const agent = 'with many that are busy'
    await at.db.pool.query(
      `with s as (
         insert into sessions (id, root_id, agent, label, config, run_id)
         select 'busy-' || n, 'busy-' || n, $1, '', '{}', 'run-1' from generate_series(1, 1500) as n returning id
       ) insert into turns (session_id, gen, turn, message_id, status, start_seq) select id, 0, 1, 'a', 'open', 1 from s`,
      [agent],
    )
    const never = newSessionRow(of(agent))
    await createSession(at.db, never)
    expect(await busyOf(agent)).toContain(never.sessionId)
  })

  it('leaves out sessions of others, and those that have been closed for long', async () => {
    const agent = 'with closed ones'
    await openSession(at.db)
    const [living, closing, closed] = [
      await openSession(at.db, of(agent)),
      await openSession(at.db, of(agent)),
      await openSession(at.db, of(agent)),
    ]
    const close = `update sessions set closed_at = now() - $2::interval where id = $1`
    await at.db.pool.query(close, [closing.sessionId, '1 minute'])
    await at.db.pool.query(close, [closed.sessionId, '1 hour'])
    expect((await busyOf(agent)).toSorted()).toEqual([living.sessionId, closing.sessionId].toSorted())
  })
})
