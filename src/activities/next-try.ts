/** When a session that pauses tries again by itself. The one place that decides it, for every activity. */
import type { AutoResume } from '../agent/wait-settings.ts'
import type { Pause } from '../core/pause.ts'
import type { SessionActivities } from '../protocol/session-activities.ts'
import type { Failed } from '../protocol/steps.ts'
import type { Deps } from './deps.ts'

type Input = Parameters<SessionActivities[keyof SessionActivities]>[0]

/** Adds the next try to an outcome that pauses the session for a reason which may pass. */
export function withNextTry<Outcome>({ agent }: Pick<Deps, 'agent'>, input: Input, outcome: Outcome): Outcome {
  if (!isPausing(outcome)) return outcome
  const { tries = 0 } = 'step' in input ? input.step : (input as { tries?: number })
  const nextTryMs = waitOf(outcome.pause, agent.autoResume, tries)
  return nextTryMs === undefined ? outcome : { ...outcome, nextTryMs }
}

/**
 * @param tries how often in a row the session has tried already
 * @returns milliseconds until the next try; undefined: a person must resume the session
 */
export function waitOf({ clears }: Pick<Pause, 'clears'>, auto: AutoResume, tries: number): number | undefined {
  if (clears === undefined || !auto[clears]) return undefined
  return Math.min(auto.firstMs * 2 ** Math.min(tries, 30), Math.max(auto.firstMs, auto.longestMs))
}

function isPausing(outcome: unknown): outcome is Failed {
  return typeof outcome === 'object' && outcome !== null && 'kind' in outcome && outcome.kind === 'failed'
}
