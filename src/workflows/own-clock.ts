/** Times of the store, by the clock of the workflow: a timer of Temporal knows no other, and the store's may be wrong. */
import type { ToolOutcome } from '../protocol/steps.ts'

/** The end of a question's time is counted from now on. */
export function byOwnClock(outcome: ToolOutcome): ToolOutcome {
  if (outcome.kind !== 'pending' || outcome.leftMs === undefined) return outcome
  return { ...outcome, item: { ...outcome.item, expiresAt: new Date(Date.now() + outcome.leftMs).toISOString() } }
}
