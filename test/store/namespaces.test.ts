/** Two namespaces of Temporal share one store: which steps and workers belong to which. */
import { beforeAll, describe, expect, it } from 'vitest'
import { holdLiveness, newBootId, stealDeadSteps } from '../../src/store/ledger/liveness.ts'
import { claimDeadWorkers, enterWorker, findPerhapsBusySessions } from '../../src/store/ledger/workers.ts'
import { NAMESPACE, openSession, take, taker, visit } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
/** As if somebody had been on this server for long. */
const NO_GRACE = 0
const NOBODY = '0'

beforeAll(() => visit(at.db))

describe('workers of two namespaces of Temporal with one store', () => {
  const elsewhere = { bootId: NOBODY, namespace: 'elsewhere' }
  const ofSession = (stolen: { sessionId: string }[], id: string): unknown[] =>
    stolen.filter(({ sessionId }) => sessionId === id)

  it('leave each other the steps of the dead, because attempts can be ended only in their own namespace', async () => {
    const run = await openSession(at.db)
    await take(at.db, run, { owner: newBootId() })
    expect(ofSession(await stealDeadSteps(at.db, elsewhere, { graceMs: NO_GRACE }), run.sessionId)).toEqual([])
    expect(ofSession(await stealDeadSteps(at.db, taker(NOBODY), { graceMs: NO_GRACE }), run.sessionId)).toHaveLength(1)
  })

  it('leave each other the dead workers, and the sessions that these may have had in hand', async () => {
    const agent = `agent-${newBootId()}`
    const bootId = newBootId()
    const held = await holdLiveness(at.url, bootId)
    await enterWorker(at.db, { bootId, agent, namespace: NAMESPACE })
    await held.release()
    const config = { agent, label: 'a session', model: 'agent', tools: 'agent' } as const
    const { sessionId } = await openSession(at.db, { config })
    const deadTo = async (who: typeof elsewhere): Promise<boolean> =>
      (await claimDeadWorkers(at.db, who, NO_GRACE)).some((worker) => worker.bootId === bootId)
    await expect.poll(() => deadTo(taker(NOBODY))).toBe(true)
    expect(await deadTo(elsewhere)).toBe(false)
    expect(await findPerhapsBusySessions(at.db, { agent, namespace: NAMESPACE }, 10)).toEqual([sessionId])
    expect(await findPerhapsBusySessions(at.db, { agent, namespace: 'elsewhere' }, 10)).toEqual([])
  })
})
