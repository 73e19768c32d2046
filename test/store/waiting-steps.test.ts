/** A step that cannot be taken yet: the one who waits for it can be stopped. */
import { afterEach, describe, expect, it } from 'vitest'
import { currentAttempt } from '../../src/activities/step/attempt.ts'
import { runStep } from '../../src/activities/step/run-step.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { holdLiveness, newBootId } from '../../src/store/ledger/liveness.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { fakeActivity } from '../support/activity-context.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'
import { TOKEN, claim, openSession } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { attemptOf, work, workerOn } from './steps.ts'

const at = useDatabase()

it.each(['cancel', 'shutdown'] as const)('does not go on waiting for another worker after a %s', async (why) => {
  const run = await openSession(at.db)
  const other = newBootId()
  const held = await holdLiveness(at.url, other)
  await claim(at.db, run, { key: 't1.0.0', owner: other })
  const waiting = runStep(
    workerOn(at.db),
    attemptOf(run, why),
    work(() => Promise.reject(new Error('must not run'))),
  )
  await expect(waiting).rejects.toThrow(why === 'cancel' ? 'cancelled before t1.0.0 was taken' : 'shuts down')
  await held.release()
})

describe('an attempt at a step that cannot be taken sends heartbeats, and so hears of a cancel', () => {
  const closing: (() => Promise<void>)[] = []

  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
  })

  async function inHandElsewhere(run: RunRef): Promise<void> {
    const other = newBootId()
    const held = await holdLiveness(at.url, other)
    closing.push(() => held.release())
    await claim(at.db, run, { key: 't1.0.0', owner: other })
  }

  it.each([
    [
      'another worker has it in hand',
      async (run: RunRef) => {
        await inHandElsewhere(run)
        return { run, db: at.db }
      },
    ],
    [
      'another worker has it in hand for an abandoned run',
      async (run: RunRef) => {
        await inHandElsewhere(run)
        return { run: { ...run, runId: 'run-2' }, db: at.db }
      },
    ],
    [
      'the store is away',
      async (run: RunRef) => {
        const { proxy, url } = await startProxyBefore(at.url)
        const db = openDatabase(url)
        proxy.refuse(true)
        closing.push(
          () => proxy.close(),
          () => db.close(),
        )
        return { run, db }
      },
    ],
  ])('because %s', async (_why, prepare) => {
    const { run, db } = await prepare(await openSession(at.db))
    const { sessionId, gen, turn, place } = run
    const activity = fakeActivity({ run, token: TOKEN, heard: () => activity.stop({ cancelRequested: true }) })
    const attempt = activity.inside(() =>
      currentAttempt(workerOn(db), { sessionId, gen, turn, place, key: 't1.0.0', base: 0 }),
    )
    const waiting = runStep(
      workerOn(db),
      attempt,
      work(() => Promise.reject(new Error('must not run'))),
    )
    await expect(waiting).rejects.toThrow('cancelled before t1.0.0 was taken')
  })
})
