/** What a take-over ends in Temporal. Without it, Temporal would wait for the heartbeat of each of these attempts. */
import { expect, it, vi } from 'vitest'
import { takeOver } from '../../src/worker/take-over.ts'
import { holdLiveness, newBootId } from '../../src/store/ledger/liveness.ts'
import { findPerhapsBusySessions } from '../../src/store/ledger/workers.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import { until } from '../support/until.ts'

const stage = useCrashStage()
/** As if PostgreSQL had been running for long. */
const NO_GRACE = 0
const NOBODY = '0'

const takeOverAs = (self: string): Promise<number> =>
  takeOver({ db: stage.db, client: stage.client.temporal }, self, NO_GRACE)

it('ends the attempts of a dead worker that the ledger does not show: those not claimed yet, and those settled but not yet reported', async () => {
  const worker = await stage.startWorker()
  const [opening, closing] = [await stage.session(), await stage.session()]
  const unclaimed = await stage.holds.hold({ session: opening.id, step: 'm1.0', moment: 'claim' })
  const untold = await stage.holds.hold({ session: closing.id, step: 'm1.0', moment: 'settle' })
  const turns = [await opening.send('hello'), await closing.send('hello')]
  await Promise.all([unclaimed.reached(), untold.reached()])
  await worker.kill()
  await unclaimed.drop()
  await untold.letThrough()
  let ended = 0
  await until('the worker is found dead', async () => {
    ended += await takeOverAs(NOBODY)
    const { rows } = await stage.db.pool.query('select from workers')
    return rows.length === 0
  })
  expect(ended).toBe(2)
  await stage.startWorker()
  for (const turn of turns) expect((await turn.result()).text).toBe('answer to hello')
  expect(stage.fake.requests).toHaveLength(2)
})

it('counts the death of a worker whose session was locked through a whole take-over', async () => {
  await stage.killWorkers()
  const worker = await stage.startWorker()
  const session = await stage.session()
  const door = stage.doors.hold(({ tag }) => tag === '#locked')
  const turn = await session.send('look #locked')
  await door.reached()
  const tx = await stage.db.pool.connect()
  await tx.query('begin')
  await tx.query('select from sessions where id = $1 for update', [session.id])
  await worker.kill()
  const step = async () => {
    const { rows } = await stage.db.pool.query<{ owner: string | null; deaths: number }>(
      `select owner, deaths from steps where session_id = $1 and step_key = 't1.0.0'`,
      [session.id],
    )
    return rows[0]
  }
  const looked = async (): Promise<void> => void (await takeOverAs(NOBODY))
  const { owner } = (await step()) ?? {}
  await until('the worker is found dead', async () => {
    await looked()
    const { rows } = await stage.db.pool.query('select from workers where boot_id = $1 and searcher is null', [owner])
    return rows.length === 0
  })
  expect(await step()).toEqual({ owner, deaths: 0 })
  await tx.query('commit')
  tx.release()
  await looked()
  expect(await step()).toEqual({ owner: null, deaths: 1 })
  const known = await stage.db.pool.query('select from workers where boot_id = $1', [owner])
  expect(known.rows).toHaveLength(0)
  door.open()
  await stage.startWorker()
  expect((await turn.result()).text).toBe('done after 1')
})

it('lets one survivor ask Temporal about the sessions of a dead worker, and another one when the first cannot', async () => {
  await stage.startWorker()
  for (let n = 0; n < 5; n++) await (await (await stage.session()).send('hello')).result()
  await stage.killWorkers()
  const here = { agent: stage.agent, namespace: 'default' }
  const known = () => stage.db.pool.query('select from workers').then(({ rows }) => rows.length)
  const toAsk = (await known()) * (await findPerhapsBusySessions(stage.db, here, 1000)).length
  const survivors = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const bootId = newBootId()
      return { bootId, held: await holdLiveness(stage.servers.databaseUrl, bootId) }
    }),
  )
  const { temporal } = stage.client
  const asking = vi.spyOn(temporal.workflowService, 'describeWorkflowExecution')
  const look = () => Promise.allSettled(survivors.map(({ bootId }) => takeOverAs(bootId)))
  try {
    // The survivor that asks first is cut off from Temporal.
    asking.mockRejectedValueOnce(new Error('cut off'))
    const looks: PromiseSettledResult<number>[] = []
    await until('the worker is found dead', async () => {
      looks.push(...(await look()))
      return (await known()) === 0
    })
    expect(looks.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(asking.mock.calls.length).toBeLessThanOrEqual(2 * toAsk)
  } finally {
    asking.mockRestore()
    for (const { held } of survivors) await held.release()
  }
})
