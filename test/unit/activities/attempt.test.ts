/** What an attempt tells the work inside it: only what people and its own worker want, never what Temporal believes. */
import { Client } from '@temporalio/client'
import type { ActivityCancellationDetailsOptions } from '@temporalio/common'
import { expect, it } from 'vitest'
import { currentAttempt } from '../../../src/activities/step/attempt.ts'
import { type StopWhy } from '../../../src/activities/step/in-flight.ts'
import { fakeActivity, type FakeActivity } from '../../support/activity-context.ts'
import { createGate } from '../../support/gate.ts'

const ref = {
  sessionId: 's-1',
  key: 't1.0.0',
  gen: 0,
  turn: 1,
  base: 0,
  place: { seq: 0, told: 0, round: 0, asking: true },
} as const
const surroundings = { run: { sessionId: 's-1', runId: 'run-1' }, token: new Uint8Array([1]) }

it.each<[string, ActivityCancellationDetailsOptions, StopWhy[]]>([
  ['is stopped by a cancel', { cancelRequested: true }, ['cancel']],
  ['is stopped when its worker shuts down', { workerShutdown: true }, ['shutdown']],
  [
    'is cancelled by a cancel although its worker shuts down, too',
    { cancelRequested: true, workerShutdown: true },
    ['cancel'],
  ],
  ['goes on when Temporal takes it for timed out', { timedOut: true }, []],
  ['goes on when Temporal does not know it any more', { notFound: true }, []],
  ['goes on when somebody pauses or resets its activity', { paused: true, reset: true }, []],
])('%s', async (_what, why, expected) => {
  const gate = createGate()
  const told: StopWhy[][] = []
  const attend = (activity: FakeActivity): Promise<string> => {
    const heard: StopWhy[] = []
    told.push(heard)
    const attempt = activity.inside(() => currentAttempt({ client: new Client() }, ref))
    return attempt.attend(
      gate.opened.then(() => 'done'),
      (reason) => heard.push(reason),
    )
  }
  const [before, during] = [fakeActivity(surroundings), fakeActivity(surroundings)]
  before.stop(why)
  const attended = [attend(before), attend(during)]
  during.stop(why)
  gate.open()
  expect(await Promise.all(attended)).toEqual(['done', 'done'])
  expect(told).toEqual([expected, expected])
})
