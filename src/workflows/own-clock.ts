/**
 * Times of workers and of the store, by the clock of the workflow: a timer of Temporal knows no other, and those clocks
 * may be wrong.
 */
import type { CompactOutcome, ModelOutcome, OpenSessionOutcome, ToolOutcome } from '../protocol/steps.ts'

type Outcome = ModelOutcome | CompactOutcome | OpenSessionOutcome | ToolOutcome

/** Every time that the outcome promises is counted from now on. */
export function byOwnClock<Any extends Outcome>(outcome: Any): Any {
  return counted(outcome) as Any
}

function counted(outcome: Outcome): Outcome {
  if (outcome.kind === 'pending' && outcome.leftMs !== undefined)
    return { ...outcome, item: { ...outcome.item, expiresAt: after(outcome.leftMs) } }
  if (outcome.kind === 'awaits' && outcome.awaits.leftMs !== undefined) {
    const { leftMs, ...awaits } = outcome.awaits
    return { ...outcome, awaits: { ...awaits, until: after(leftMs) } }
  }
  if (outcome.kind === 'failed' && outcome.nextTryMs !== undefined) {
    const { nextTryMs, pause, ...failed } = outcome
    return { ...failed, pause: { ...pause, nextTryAt: after(nextTryMs) } }
  }
  return outcome
}

function after(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}
