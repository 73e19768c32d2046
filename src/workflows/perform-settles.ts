/** Carries out the commands that end a step in the ledger from outside: its activity was lost, or it waits for no worker. */
import { storeActivity, verifyingSettle } from './activities.ts'
import { failed, lostHow } from './lost-activities.ts'
import { byOwnClock } from './own-clock.ts'
import type { Performing, Run } from './run.ts'

const PROPOSED = {
  cancelled: 'cancelled',
  timedOut: 'timed out',
  childEnded: 'the child has answered',
  childLost: 'the child is gone',
  answered: 'a person has answered',
  expired: 'nobody has answered in time',
} as const

export type Settles = 'settleCompaction' | 'settleModel' | 'settleTool'

/** @param cancellably does work that `cancelSteps` cancels */
export function performSettles(
  run: Run,
  cancellably: (work: () => Promise<void>) => Promise<void>,
): Performing<Settles> {
  return {
    async settleCompaction({ input }) {
      const { key } = input
      try {
        const settle = storeActivity('settleCompaction', 'compaction: stopped')
        run.emit({ type: 'compacted', key, outcome: byOwnClock(await settle({ ...input, ...run.facts })) })
      } catch (error) {
        run.emit(failed({ of: 'compaction', key }, error))
      }
    },

    async settleModel({ input: { step, proposed } }) {
      const { turn, round } = step
      try {
        const settle = storeActivity('settleModel', `model: ${PROPOSED[proposed]}`)
        const outcome = await settle({ step: { ...step, ...run.facts }, proposed })
        run.emit({ type: 'modelEnded', turn, round, outcome: byOwnClock(outcome) })
      } catch (error) {
        run.emit(failed({ of: 'model', turn, round }, error))
      }
    },

    async settleTool({ input: { step, ...proposal }, timeoutMs }) {
      const { turn, round, index, call } = step
      const { kind } = proposal.proposed
      const summary = `${call.title ?? call.name}: ${PROPOSED[kind]}`
      const verifying = timeoutMs > 0 && (kind === 'cancelled' || kind === 'timedOut')
      const end = async (): Promise<void> => {
        const settle = verifying ? verifyingSettle(timeoutMs, summary) : storeActivity('settleTool', summary)
        const outcome = await settle({ step: { ...step, ...run.facts }, ...proposal })
        run.emit({ type: 'toolEnded', turn, round, index, outcome: byOwnClock(outcome) })
      }
      try {
        // A cancel that started this settle must not cancel it.
        await (verifying && kind === 'timedOut' ? cancellably(end) : end())
      } catch (error) {
        if (verifying && lostHow(error) === 'cancelled')
          run.emit({ type: 'toolLost', turn, round, index, how: 'cancelled' })
        else run.emit(failed({ of: 'tool', turn, round, index }, error))
      }
    },
  }
}
