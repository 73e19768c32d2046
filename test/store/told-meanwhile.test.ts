/** Several steps of a session may tell the same event, for example that the working folder is lost. */
import { expect, it } from 'vitest'
import { settleStep } from '../../src/store/ledger/settle.ts'
import { readEvents } from '../support/events.ts'
import { holdWriters } from '../support/interleaved.ts'
import { openSession, someEvent, take } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

it('an event that several steps tell at the same moment is told once, and all of them are settled', async () => {
  const run = await openSession(at.db)
  const keys = ['a', 'b', 'c']
  const steps = await Promise.all(keys.map((key) => take(at.db, run, { key })))
  const letGo = await holdWriters(at.db, run.sessionId)
  const settling = steps.map((step) => {
    const own = someEvent({ key: step.key, at: { told: 1 }, type: 'own' })
    const events = [someEvent({ key: 'same', at: { told: 1 }, type: 'same' }), own]
    return settleStep(at.db, step, { outcome: {}, writes: { events } })
  })
  await letGo(keys.length)
  expect(await Promise.all(settling)).toEqual(keys.map(() => ({ won: true })))
  const events = await readEvents(at.db, run.sessionId, 0)
  expect(events.map(({ offset, type }) => [offset, type])).toEqual([
    [0, 'same'],
    [1, 'own'],
    [2, 'own'],
    [3, 'own'],
  ])
})
