/** What a takeover ends in Temporal. Without it, each of these attempts would be waited for until its heartbeat is missed. */
import { expect, it, vi } from 'vitest'
import { takeOver } from '../../src/worker/take-over.ts'
import { holdLiveness, newBootId } from '../../src/store/liveness.ts'
import { findPerhapsBusySessions } from '../../src/store/workers.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import { until } from '../support/until.ts'

const stage = useCrashStage()
/** As if PostgreSQL had been up for long. */
const NO_GRACE = 0
const NOBODY = '0'

it('ends the attempts of a dead worker that the ledger does not show: not claimed yet, or settled and untold', async () => {
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
    ended += await takeOver(stage.db, stage.client.temporal, NOBODY, NO_GRACE)
    const { rows } = await stage.db.pool.query('select from workers')
    return rows.length === 0
  })
  expect(ended).toBe(2)
  await stage.startWorker()
  for (const turn of turns) expect((await turn.result()).text).toBe('answer to hello')
  expect(stage.fake.requests).toHaveLength(2)
})

it('has one of the survivors ask Temporal about the sessions of a dead worker, and another when that one cannot', async () => {
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
  const look = () => Promise.allSettled(survivors.map(({ bootId }) => takeOver(stage.db, temporal, bootId, NO_GRACE)))
  try {
    // The first that asks is cut off from Temporal.
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
