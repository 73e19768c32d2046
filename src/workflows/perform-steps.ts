/** Carries out the commands that are steps of the ledger: an activity asks a model, calls a tool, or ends what was lost. */
import { CancellationScope } from '@temporalio/workflow'
import { openingActivity, stepActivity, storeActivity, verifyingSettle } from './activities.ts'
import { callInPlace } from './call-in-place.ts'
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

type Steps =
  | 'openSession'
  | 'callModel'
  | 'compact'
  | 'settleCompaction'
  | 'callTool'
  | 'settleModel'
  | 'settleTool'
  | 'cancelSteps'

export function performSteps(run: Run): Performing<Steps> {
  const cancellable = new Set<CancellationScope>()

  async function cancellably(work: () => Promise<void>): Promise<void> {
    const scope = new CancellationScope()
    cancellable.add(scope)
    try {
      await scope.run(work)
    } finally {
      cancellable.delete(scope)
    }
  }

  return {
    async openSession({ input }) {
      const outcome = await openingActivity()({ ...input, ...run.facts })
      if (outcome.kind === 'opened') {
        const { fresh: _opened, ...known } = run.facts
        run.facts = known
      }
      run.emit({ type: 'sessionOpened', outcome })
    },

    async callModel({ input }) {
      const { turn, round } = input
      await cancellably(async () => {
        try {
          const { name, timeoutMs } = run.model()
          const summary = `${name} · turn ${turn}, round ${round + 1}`
          const outcome = await stepActivity('callModel', timeoutMs, summary)({ ...input, ...run.facts })
          run.emit({ type: 'modelEnded', turn, round, outcome })
        } catch (error) {
          const how = lostHow(error)
          if (how) run.emit({ type: 'modelLost', turn, round, how })
          else run.emit(failed({ of: 'model', turn, round }, error))
        }
      })
    },

    async compact({ input }) {
      const { key } = input
      await cancellably(async () => {
        try {
          const { name, timeoutMs } = run.model()
          const compact = stepActivity('compact', timeoutMs, `make the conversation shorter for ${name}`)
          run.emit({ type: 'compacted', key, outcome: await compact({ ...input, ...run.facts }) })
        } catch (error) {
          if (lostHow(error)) run.emit({ type: 'compactionLost', key, input })
          else run.emit(failed({ of: 'compaction', key }, error))
        }
      })
    },

    async settleCompaction({ input }) {
      const { key } = input
      try {
        const settle = storeActivity('settleCompaction', 'compaction: stopped')
        run.emit({ type: 'compacted', key, outcome: await settle({ ...input, ...run.facts }) })
      } catch (error) {
        run.emit(failed({ of: 'compaction', key }, error))
      }
    },

    async callTool({ input, route, preview, timeoutMs }) {
      const { turn, round, index } = input
      await cancellably(async () => {
        try {
          const summary = `${input.call.title ?? input.call.name} ${preview}`
          const asked = { ...input, ...run.facts }
          const outcome =
            route === 'tool'
              ? await callInPlace(asked, timeoutMs, summary)
              : await stepActivity('openChild', timeoutMs, summary)(asked)
          run.emit({ type: 'toolEnded', turn, round, index, outcome: byOwnClock(outcome) })
        } catch (error) {
          const how = lostHow(error)
          if (how) run.emit({ type: 'toolLost', turn, round, index, how })
          else run.emit(failed({ of: 'tool', turn, round, index }, error))
        }
      })
    },

    async settleModel({ input: { step, proposed } }) {
      const { turn, round } = step
      try {
        const settle = storeActivity('settleModel', `model: ${PROPOSED[proposed]}`)
        run.emit({
          type: 'modelEnded',
          turn,
          round,
          outcome: await settle({ step: { ...step, ...run.facts }, proposed }),
        })
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

    async cancelSteps() {
      for (const scope of cancellable) scope.cancel()
    },
  }
}
