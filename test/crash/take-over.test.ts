/** What a takeover ends in Temporal. Without it, each of these attempts would be waited for until its heartbeat is missed. */
import { expect, it } from 'vitest'
import { takeOver } from '../../src/activities/take-over.ts'
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
