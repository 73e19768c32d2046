/** Carries out the commands that are steps of the ledger: an activity asks a model or calls a tool. */
import { ActivityFailure, CancellationScope, TimeoutFailure } from '@temporalio/workflow'
import type { CallToolInput, ToolOutcome } from '../protocol/steps.ts'
import { hostActivity, openingActivity, stepActivity } from './activities.ts'
import { failed, lostHow } from './lost-activities.ts'
import { byOwnClock } from './own-clock.ts'
import { performSettles, type Settles } from './perform-settles.ts'
import type { Performing, Run } from './run.ts'

type Steps = 'openSession' | 'callModel' | 'compact' | 'callTool' | 'cancelSteps'

export function performSteps(run: Run): Performing<Steps | Settles> {
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
      run.emit({ type: 'sessionOpened', outcome: byOwnClock(outcome) })
    },

    async callModel({ input }) {
      const { turn, round } = input
      await cancellably(async () => {
        try {
          const { name, timeoutMs } = run.model()
          const summary = `${name} · turn ${turn}, round ${round + 1}`
          const outcome = await stepActivity('callModel', timeoutMs, summary)({ ...input, ...run.facts })
          run.emit({ type: 'modelEnded', turn, round, outcome: byOwnClock(outcome) })
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
          run.emit({ type: 'compacted', key, outcome: byOwnClock(await compact({ ...input, ...run.facts })) })
        } catch (error) {
          if (lostHow(error)) run.emit({ type: 'compactionLost', key, input })
          else run.emit(failed({ of: 'compaction', key }, error))
        }
      })
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

    ...performSettles(run, cancellably),

    async cancelSteps() {
      for (const scope of cancellable) scope.cancel()
    },
  }
}

/**
 * Runs a tool call where its working folder is, if it has one. Decides nothing: activities and the store do.
 *
 * @throws ActivityFailure as any activity does
 */
async function callInPlace(input: CallToolInput, timeoutMs: number, summary: string): Promise<ToolOutcome> {
  const anywhere = stepActivity('callTool', timeoutMs, summary)
  let outcome = await anywhere(input)
  while (outcome.kind === 'elsewhere') {
    const { host, generation } = outcome
    const sent = { host, generation }
    try {
      outcome = await hostActivity(outcome, timeoutMs, `${summary} on ${host}`)({ ...input, sent })
    } catch (error) {
      if (!isUntaken(error)) throw error
      outcome = await anywhere({ ...input, sent: { ...sent, untaken: true } })
    }
  }
  return outcome
}

/** No worker of the host has taken the call in time. */
function isUntaken(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof TimeoutFailure)) return false
  return error.cause.timeoutType === 'SCHEDULE_TO_START'
}
