/** When a session that pauses tries again by itself. The one place that decides it, for every activity. */
import type { AutoResume } from '../agent/wait-settings.ts'
import type { Pause } from '../core/pause.ts'
import type { SessionActivities } from '../protocol/session-activities.ts'
import type { Deps } from './deps.ts'

type Input = Parameters<SessionActivities[keyof SessionActivities]>[0]

/** Adds the next try to an outcome that pauses the session for a reason which may pass. */
export function withNextTry<Outcome>({ agent }: Pick<Deps, 'agent'>, input: Input, outcome: Outcome): Outcome {
  if (!isPausing(outcome)) return outcome
  const { tries } = 'step' in input ? input.step : (input as { tries?: number })
  return { ...outcome, pause: promising(outcome.pause, agent.autoResume, { tries: tries ?? 0, now: Date.now() }) }
}

/** @param tries how often in a row the session has tried already */
export function promising(pause: Pause, auto: AutoResume, { tries, now }: { tries: number; now: number }): Pause {
  if (pause.clears === undefined || !auto[pause.clears]) return pause
  const waitMs = Math.min(auto.firstMs * 2 ** Math.min(tries, 30), Math.max(auto.firstMs, auto.longestMs))
  return { ...pause, nextTryAt: new Date(now + waitMs).toISOString() }
}

function isPausing(outcome: unknown): outcome is { kind: 'failed'; pause: Pause } {
  return typeof outcome === 'object' && outcome !== null && 'kind' in outcome && outcome.kind === 'failed'
}
