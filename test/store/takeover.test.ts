/** Whether a worker lives, and what becomes of the steps of a dead one. */
import pg from 'pg'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { holdLiveness, isAlive, newBootId, stealDeadSteps, type Liveness } from '../../src/store/ledger/liveness.ts'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { claimDeadWorkers, enterWorker, leaveWorker } from '../../src/store/ledger/workers.ts'
import { startProxyBefore, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { NAMESPACE, OTHER_OWNER, TOKEN, claim, openSession, take, taker, visit } from './fixtures.ts'
import { sentBy, useDatabase } from './postgres.ts'

const at = useDatabase()
/** As if somebody had been on this server for long. */
const NO_GRACE = 0
const NOBODY = '0'

beforeAll(() => visit(at.db))

describe('holdLiveness', () => {
  it('makes a worker alive until it is released', async () => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    expect(await isAlive(at.db, bootId, { graceMs: NO_GRACE })).toBe(true)
    await held.release()
    await expect.poll(() => isAlive(at.db, bootId, { graceMs: NO_GRACE })).toBe(false)
  })

  it('takes the lock again when its connection was cut', async () => {
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    const { rows } = await at.db.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'stello-liveness' and datname = current_database()`,
    )
    for (const { pid } of rows) await at.db.pool.query('select pg_terminate_backend($1, 5000)', [pid])
    await expect.poll(() => isAlive(at.db, bootId, { graceMs: NO_GRACE }), { timeout: 5000 }).toBe(true)
    await held.release()
  })

  it('tells boot ids apart over the whole range of 63 bits', async () => {
    const [small, big] = ['7', (2n ** 63n - 1n).toString()]
    const held = [await holdLiveness(at.url, small), await holdLiveness(at.url, big)]
    expect(await isAlive(at.db, small, { graceMs: NO_GRACE })).toBe(true)
    expect(await isAlive(at.db, big, { graceMs: NO_GRACE })).toBe(true)
    expect(await isAlive(at.db, (7n + 2n ** 32n).toString(), { graceMs: NO_GRACE })).toBe(false)
    for (const each of held) await each.release()
  })
})

/** Ends connections that hold the lock of `bootId`: all, or one of them. */
async function cut(bootId: string, which?: 'one'): Promise<void> {
  await at.db.pool.query(
    `select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory'
     and (classid::bigint << 32 | objid::bigint) = $1::bigint limit $2`,
    [bootId, which && 1],
  )
}

describe('when connections of a lock are lost', () => {
  interface Watched {
    bootId: string
    liveness: Liveness
    proxy: TcpProxy
    /** What `holdLiveness` reports. */
    told: [kind: string, held: boolean][]
  }

  async function watched(): Promise<Watched> {
    const { proxy, url } = await startProxyBefore(at.url)
    const [bootId, told]: [string, Watched['told']] = [newBootId(), []]
    const liveness = await holdLiveness(url, bootId, ({ kind }, held) => told.push([kind, held]))
    onTestFinished(async () => {
      await liveness.release()
      await proxy.close()
    })
    return { bootId, liveness, proxy, told }
  }

  it('keeps the lock by its other connection if the first is lost, says so once, and takes it again when it can', async () => {
    const { bootId, liveness, proxy, told } = await watched()
    proxy.refuse(true)
    await cut(bootId, 'one')
    await until('it is refused again and again', async () => proxy.refusals() > 2)
    expect(told).toEqual([
      ['lost', true],
      ['refused', true],
    ])
    expect(liveness.held()).toBe(true)
    expect(await isAlive(at.db, bootId, { graceMs: NO_GRACE, doubted: async () => undefined })).toBe(true)
    proxy.refuse(false)
    await until('it is back', async () => told.length > 2)
    expect(told.slice(2)).toEqual([['back', true]])
    await cut(bootId, 'one')
    expect(await isAlive(at.db, bootId, { graceMs: NO_GRACE, doubted: async () => undefined })).toBe(true)
  })

  it('says that nothing holds the lock if both are lost, until one is back', async () => {
    const { bootId, liveness, proxy, told } = await watched()
    proxy.refuse(true)
    await cut(bootId)
    await until('both are lost', async () => !liveness.held())
    expect(await isAlive(at.db, bootId, { graceMs: NO_GRACE })).toBe(false)
    proxy.refuse(false)
    await until('one is back', async () => liveness.held())
    await until('both are back', async () => told.filter(([kind]) => kind === 'back').length === 2)
    expect(told.filter(([kind]) => kind === 'lost')).toEqual([
      ['lost', true],
      ['lost', false],
    ])
    expect(await isAlive(at.db, bootId, { graceMs: NO_GRACE })).toBe(true)
  })

  it('gives back what it has taken if it cannot have both', async () => {
    const { proxy, url } = await startProxyBefore(at.url)
    onTestFinished(() => proxy.close())
    proxy.refuseAfter(1)
    await expect(holdLiveness(url, newBootId())).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    await until('nobody is connected', async () => proxy.connections() === 0)
  })
})

describe('isAlive', () => {
  it('calls nobody dead while workers have just come to this server, because the others may be on their way', async () => {
    expect(await isAlive(at.db, newBootId(), { graceMs: 3_600_000_000 })).toBe(true)
  })

  it('calls a worker dead that has not come 15 s after the first one, and not sooner', async () => {
    const been = (since: string) => at.db.pool.query('update holders set since = now() - $1::interval', [since])
    const run = await openSession(at.db)
    const owner = newBootId()
    await take(at.db, run, { owner })
    await enterWorker(at.db, { bootId: owner, agent: 'test', namespace: NAMESPACE })
    const dead = async () => ({
      alive: await isAlive(at.db, owner),
      stolen: (await stealDeadSteps(at.db, taker(NOBODY))).map(({ sessionId }) => sessionId).includes(run.sessionId),
      sought: (await claimDeadWorkers(at.db, taker(NOBODY))).map(({ bootId }) => bootId).includes(owner),
    })
    await been('10 seconds')
    expect(await dead()).toEqual({ alive: true, stolen: false, sought: false })
    await been('16 seconds')
    expect(await dead()).toEqual({ alive: false, stolen: true, sought: true })
  })

  it('believes in no death before it has looked twice: a lock whose connection was cut is taken again', async () => {
    const bootId = newBootId()
    expect(await isAlive(at.db, bootId, { graceMs: NO_GRACE, doubted: () => lock(bootId) })).toBe(true)
  })

  it('waits by itself between the two looks', async () => {
    const bootId = newBootId()
    const client = new pg.Client({ connectionString: at.url })
    await client.connect()
    onTestFinished(() => client.end())
    await sentBy(async (sent) => {
      const alive = isAlive(at.db, bootId, { graceMs: NO_GRACE })
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
    await enterWorker(at.db, { bootId, agent: 'test', namespace: NAMESPACE })
    await at.db.pool.query('update holders set since = now() - $2::interval where boot_id = $1', [bootId, since])
    await leaveWorker(at.db, bootId)
    await held.release()
    return bootId
  }

  it('is dead at once: its steps belong to nobody', async () => {
    const bootId = await leave('1 minute')
    await expect.poll(() => isAlive(at.db, bootId, { graceMs: AGES })).toBe(false)
    await leave('1 minute')
    expect(await isAlive(at.db, bootId, { graceMs: AGES })).toBe(false)
  })

  it('is forgotten in the end', async () => {
    const bootId = await leave('2 hours')
    const staying = newBootId()
    const held = await holdLiveness(at.url, staying)
    await enterWorker(at.db, { bootId: staying, agent: 'test', namespace: NAMESPACE })
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
    expect(mine(await stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE }))).toEqual([
      { sessionId: run.sessionId, key: 'm1.0', token: Buffer.from(TOKEN) },
    ])
    expect(mine(await stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE }))).toEqual([])
    expect(await settleStep(at.db, step, { outcome: {}, writes: {} })).toEqual({ won: false, outcome: undefined })
    expect(await claim(at.db, run, { owner: OTHER_OWNER })).toMatchObject({ kind: 'mine', lease: 3, begun: true })
  })

  it('leaves the steps of a living worker alone', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const held = await holdLiveness(at.url, owner)
    const step = await take(at.db, run, { owner })
    expect(
      (await stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE })).filter(
        ({ sessionId }) => sessionId === run.sessionId,
      ),
    ).toEqual([])
    expect(await settleStep(at.db, step, { outcome: {}, writes: {} })).toEqual({ won: true })
    await held.release()
  })

  it('steals nothing from a worker that takes its lock again after a cut', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const step = await take(at.db, run, { owner })
    expect(
      (await stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE, doubted: () => lock(owner) })).filter(
        ({ sessionId }) => sessionId === run.sessionId,
      ),
    ).toEqual([])
    expect(await settleStep(at.db, step, { outcome: {}, writes: {} })).toEqual({ won: true })
  })

  it('leaves the steps of the asking worker alone, even if its lock is free', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const step = await take(at.db, run, { owner })
    expect(
      (await stealDeadSteps(at.db, taker(owner), { graceMs: NO_GRACE })).filter(
        ({ sessionId }) => sessionId === run.sessionId,
      ),
    ).toEqual([])
    expect(await settleStep(at.db, step, { outcome: {}, writes: {} })).toEqual({ won: true })
  })

  it('steals nothing while workers have just come to this server', async () => {
    const run = await openSession(at.db)
    const step = await take(at.db, run, { owner: newBootId() })
    expect(await stealDeadSteps(at.db, taker(NOBODY), { graceMs: 3_600_000_000 })).toEqual([])
    expect(await settleStep(at.db, step, { outcome: {}, writes: {} })).toEqual({ won: true })
  })

  it('leaves settled and released steps alone', async () => {
    const run = await openSession(at.db)
    await settleStep(at.db, await take(at.db, run, { owner: newBootId() }), { outcome: {}, writes: {} })
    expect(
      (await stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE })).filter(
        ({ sessionId }) => sessionId === run.sessionId,
      ),
    ).toEqual([])
  })

  it('gives each dead step to one of two workers that look at once', async () => {
    const run = await openSession(at.db)
    const owner = newBootId()
    const keys = Array.from({ length: 10 }, (_, i) => `t1.0.${i}`)
    for (const key of keys) await take(at.db, run, { key, owner })
    const [one, two] = await Promise.all([
      stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE }),
      stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE }),
    ])
    const stolen = [...one, ...two].filter(({ sessionId }) => sessionId === run.sessionId).map(({ key }) => key)
    expect(stolen.toSorted()).toEqual(keys)
  })
})
