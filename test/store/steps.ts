/** Steps as a worker carries them out, without Temporal, for the tests of the ledger rule. */
import type { Attempt } from '../../src/activities/step/attempt.ts'
import type { StopWhy } from '../../src/activities/step/in-flight.ts'
import type { Deps } from '../../src/activities/deps.ts'
import type { StepWork } from '../../src/activities/step/run-step.ts'
import type { Database } from '../../src/store/database/database.ts'
import { newBootId } from '../../src/store/ledger/liveness.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { depsOf } from './activity.ts'
import { TOKEN } from './fixtures.ts'

/** A worker that asks no model. */
export function workerOn(db: Database, bootId: string = newBootId()): Deps {
  return depsOf(db, { llm: scriptedModel(() => '') }, bootId)
}

/** An attempt that is stopped at once when `stopped` says so. */
export function attemptOf(run: RunRef, stopped?: StopWhy): Attempt {
  return {
    run,
    token: TOKEN,
    withinMs: 60_000,
    note: () => undefined,
    attend(work, stop) {
      if (stopped) stop(stopped)
      return work
    },
  }
}

export function work(run: StepWork<string>['run'], over: Partial<StepWork<string>> = {}): StepWork<string> {
  return {
    step: { key: 't1.0.0', kind: 'tool', name: 'tool', inputHash: 'hash', durable: true },
    run,
    refused: () => ({ kind: 'giveBack', result: 'refused' }),
    quarantined: () => ({ kind: 'giveBack', result: 'quarantined' }),
    ...over,
  }
}
