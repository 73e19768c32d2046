/** Whether a worker lives, and what becomes of the steps of one that does not. */
import pg from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { holdLiveness, isAlive, newBootId, stealDeadSteps } from '../../src/store/liveness.ts'
import { settleStep } from '../../src/store/settle.ts'
import { createSession } from '../../src/store/topology.ts'
import {
  claimDeadWorkers,
  enterWorker,
  findPerhapsBusySessions,
  giveUpDeadWorkers,
  leaveWorker,
} from '../../src/store/workers.ts'
import type { Writes } from '../../src/store/writes.ts'
import { until } from '../support/until.ts'
import { OTHER_OWNER, TOKEN, claim, newSessionRow, openSession, opening, take, visit } from './fixtures.ts'
import { sentBy, useDatabase } from './postgres.ts'

const at = useDatabase()
/** As if somebody had been on this server for long. */
const NO_GRACE = 0
const NOBODY = '0'
const END: Writes = { turns: [{ turn: 1, stopReason: 'end_turn', text: '', rounds: 0 }] }

beforeAll(() => visit(at.db))

describe('holdLiveness', () => {
  it('makes a worker alive until it is released', async () => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    expect(await isAlive(at.db, bootId, NO_GRACE)).toBe(true)
    await held.release()
    await expect.poll(() => isAlive(at.db, bootId, NO_GRACE)).toBe(false)
  })

  it('takes the lock again when its connection was cut', async () => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    const { rows } = await at.db.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'stello-liveness' and datname = current_database()`,
    )
    for (const { pid } of rows) await at.db.pool.query('select pg_terminate_backend($1, 5000)', [pid])
    await expect.poll(() => isAlive(at.db, bootId, NO_GRACE), { timeout: 5000 }).toBe(true)
    await held.release()
  })

  it('knows boot ids over the whole range of 63 bits apart', async () => {
    const [small, big] = ['7', (2n ** 63n - 1n).toString()]
    const held = [await holdLiveness(at.url, small), await holdLiveness(at.url, big)]
    expect(await isAlive(at.db, small, NO_GRACE)).toBe(true)
    expect(await isAlive(at.db, big, NO_GRACE)).toBe(true)
    expect(await isAlive(at.db, (7n + 2n ** 32n).toString(), NO_GRACE)).toBe(false)
    for (const each of held) await each.release()
  })
})

it('tells that the lock was lost, and again once it is held: between, nobody sees what becomes of the server', async () => {
  let told = 0
  const held = await holdLiveness(at.url, newBootId(), () => told++)
  await at.db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'stello-liveness' and datname = current_database()`,
  )
  await expect.poll(() => told, { timeout: 10_000 }).toBe(2)
  await held.release()
})

describe('isAlive', () => {
  it('calls nobody dead while workers have just come to this server: the others may be on their way', async () => {
    expect(await isAlive(at.db, newBootId(), 3_600_000_000)).toBe(true)
  })

  it('calls somebody dead who has not come although the first has been there for 15 s, and nobody sooner', async () => {
    const been = (since: string) => at.db.pool.query('update holders set since = now() - $1::interval', [since])
    const run = await openSession(at.db)
    const owner = newBootId()
    await take(at.db, run, { owner })
    await enterWorker(at.db, { bootId: owner, agent: 'test' })
    const dead = async () => ({
      alive: await isAlive(at.db, owner),
      stolen: (await stealDeadSteps(at.db, NOBODY)).map(({ sessionId }) => sessionId).includes(run.sessionId),
      sought: (await claimDeadWorkers(at.db, NOBODY)).map(({ bootId }) => bootId).includes(owner),
    })
    await been('10 seconds')
    expect(await dead()).toEqual({ alive: true, stolen: false, sought: false })
    await been('16 seconds')
    expect(await dead()).toEqual({ alive: false, stolen: true, sought: true })
  })

  it('believes in no death before it has looked twice: a lock whose connection was cut is taken again', async () => {
    const bootId = newBootId()
    expect(await isAlive(at.db, bootId, NO_GRACE, () => lock(bootId))).toBe(true)
  })

  it('waits by itself between the two', async () => {
    const bootId = newBootId()
    const client = new pg.Client({ connectionString: at.url })
    await client.connect()
    onTestFinished(() => client.end())
    await sentBy(async (sent) => {
      const alive = isAlive(at.db, bootId, NO_GRACE)
      await until('it has looked', async () => sent.length > 0)
      await client.query('select pg_advisory_lock($1::bigint)', [bootId])
      expect(await alive).toBe(true)
    })
  })
})

/** Until the test ends. */
async function lock(bootId: string): Promise<void> {
  const { release } = await holdLiveness(at.url, bootId)
  onTestFinished(release)
}

describe('a worker that has left', () => {
  const AGES = 3_600_000_000
  const leave = async (since: string): Promise<string> => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    await enterWorker(at.db, { bootId, agent: 'test' })
    await at.db.pool.query('update holders set since = now() - $2::interval where boot_id = $1', [bootId, since])
    await leaveWorker(at.db, bootId)
    await held.release()
    return bootId
  }

  it('is dead at once: what it had in hand is nobody’s', async () => {
    const bootId = await leave('1 minute')
    await expect.poll(() => isAlive(at.db, bootId, AGES)).toBe(false)
    await leave('1 minute')
    expect(await isAlive(at.db, bootId, AGES)).toBe(false)
  })

  it('is forgotten in the end', async () => {
    const bootId = await leave('2 hours')
    const staying = newBootId()
    const held = await holdLiveness(at.url, staying)
    await enterWorker(at.db, { bootId: staying, agent: 'test' })
    await at.db.pool.query(`update holders set since = now() - interval '2 hours' where boot_id = $1`, [staying])
    await leave('1 minute')
    const { rows } = await at.db.pool.query('select boot_id from holders where boot_id in ($1, $2)', [bootId, staying])
    expect(rows).toEqual([{ boot_id: staying }])
    await held.release()
  })
})

describe('stealDeadSteps', () => {
  it('fences a dead worker’s step and returns its task token, once', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { owner: newBootId() })
    const mine = (steps: { sessionId: string }[]) => steps.filter(({ sessionId }) => sessionId === run.sessionId)
    expect(mine(await stealDeadSteps(at.db, NOBODY, NO_GRACE))).toEqual([
      { sessionId: run.sessionId, key: 'm1.0', token: Buffer.from(TOKEN) },
    ])
    expect(mine(await stealDeadSteps(at.db, NOBODY, NO_GRACE))).toEqual([])
    expect(await settleStep(at.db, step, {}, {})).toEqual({ won: false, outcome: undefined })
    expect(await claim(at.db, run, { owner: OTHER_OWNER })).toMatchObject({ kind: 'mine', lease: 3, begun: true })
  })

  it('leaves the steps of a living worker alone', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const held = await holdLiveness(at.url, owner)
    const step = await take(at.db, run, { owner })
    expect(
      (await stealDeadSteps(at.db, NOBODY, NO_GRACE)).filter(({ sessionId }) => sessionId === run.sessionId),
    ).toEqual([])
    expect(await settleStep(at.db, step, {}, {})).toEqual({ won: true })
    await held.release()
  })

  it('steals nothing from a worker that takes its lock again after a cut', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const step = await take(at.db, run, { owner })
    expect(
      (await stealDeadSteps(at.db, NOBODY, NO_GRACE, () => lock(owner))).filter(
        ({ sessionId }) => sessionId === run.sessionId,
      ),
    ).toEqual([])
    expect(await settleStep(at.db, step, {}, {})).toEqual({ won: true })
  })

  it('leaves the steps of the worker that asks alone, although its lock is free', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const step = await take(at.db, run, { owner })
    expect(
      (await stealDeadSteps(at.db, owner, NO_GRACE)).filter(({ sessionId }) => sessionId === run.sessionId),
    ).toEqual([])
    expect(await settleStep(at.db, step, {}, {})).toEqual({ won: true })
  })

  it('steals nothing while workers have just come to this server', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { owner: newBootId() })
    expect(await stealDeadSteps(at.db, NOBODY, 3_600_000_000)).toEqual([])
    expect(await settleStep(at.db, step, {}, {})).toEqual({ won: true })
  })

  it('leaves settled and released steps alone', async () => {
    const run = await openSession(at.db)
    await settleStep(at.db, await take(at.db, run, { owner: newBootId() }), {}, {})
    expect(
      (await stealDeadSteps(at.db, NOBODY, NO_GRACE)).filter(({ sessionId }) => sessionId === run.sessionId),
    ).toEqual([])
  })

  it('hands each dead step to one of two workers that look at once', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const keys = Array.from({ length: 10 }, (_, i) => `t1.0.${i}`)
    for (const key of keys) await take(at.db, run, { key, owner })
    const [one, two] = await Promise.all([
      stealDeadSteps(at.db, NOBODY, NO_GRACE),
      stealDeadSteps(at.db, NOBODY, NO_GRACE),
    ])
    const stolen = [...one, ...two].filter(({ sessionId }) => sessionId === run.sessionId).map(({ key }) => key)
    expect(stolen.toSorted()).toEqual(keys)
  })
})

describe('claimDeadWorkers', () => {
  const die = async (): Promise<string> => {
    const dead = newBootId()
    const held = await holdLiveness(at.url, dead)
    await enterWorker(at.db, { bootId: dead, agent: 'test' })
    await held.release()
    await expect.poll(() => isAlive(at.db, dead, NO_GRACE)).toBe(false)
    return dead
  }
  const survivor = async () => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    onTestFinished(() => held.release().catch(() => undefined))
    const claimed = async () => (await claimDeadWorkers(at.db, bootId, NO_GRACE)).map((dead) => dead.bootId)
    return { bootId, claimed, die: () => held.release() }
  }

  it('gives each dead worker to one of those that look at once, which keeps it', async () => {
    const survivors = await Promise.all(Array.from({ length: 8 }, survivor))
    const dead = Array.from({ length: 50 }, () => newBootId())
    await at.db.pool.query(`insert into workers (boot_id, agent) select unnest($1::text[]), 'test'`, [dead])
    const look = () => Promise.all(survivors.map((one) => one.claimed()))
    const first = await look()
    expect(dead.map((bootId) => first.filter((all) => all.includes(bootId)).length)).toEqual(dead.map(() => 1))
    expect((await look()).map((all) => all.toSorted())).toEqual(first.map((all) => all.toSorted()))
  })

  it('gives it to nobody who asked just before another had it', async () => {
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

  it('gives it to another when the one that has it gives up, or dies', async () => {
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

  it('leaves the living, those that may be on their way, and the one that asks alone', async () => {
    const dead = await die()
    const [one, two] = [await survivor(), await survivor()]
    for (const { bootId } of [one, two]) await enterWorker(at.db, { bootId, agent: 'test' })
    await at.db.pool.query('delete from holders where boot_id = $1', [dead])
    expect((await claimDeadWorkers(at.db, one.bootId, 3_600_000_000)).map(({ bootId }) => bootId)).not.toContain(dead)
    const claimed = await one.claimed()
    expect(claimed).toContain(dead)
    expect(claimed).not.toContain(one.bootId)
    expect(claimed).not.toContain(two.bootId)
    await one.die()
    await expect.poll(() => isAlive(at.db, one.bootId, NO_GRACE)).toBe(false)
    expect(await one.claimed()).not.toContain(one.bootId)
  })
})

describe('findPerhapsBusySessions', () => {
  const busyOf = (agent: string) => findPerhapsBusySessions(at.db, agent, 1000)
  const of = (agent: string) => ({ config: { ...newSessionRow().config, agent } })

  it('finds those with an open turn and those that were busy last, however many were never opened', async () => {
    const agent = 'with many that were never opened'
    const [open, ended] = [await openSession(at.db, of(agent)), await openSession(at.db, of(agent))]
    await settleStep(at.db, await take(at.db, ended, { opening: opening(1, 'a', 1) }), {}, END)
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

  it('leaves out those of others, and those that have been closed for long', async () => {
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
