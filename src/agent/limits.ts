/** The limits of a turn: their defaults and how they are read from what an author wrote. */
import { toMs } from './duration.ts'
import { StelloError } from './errors.ts'
import type { Duration } from './tool.ts'

export interface Limits {
  /** Rounds of tool calls per turn; the model is asked at most this + 1 times. */
  maxToolRounds: number
  /** Default time-out of a tool, milliseconds. */
  toolTimeoutMs: number
  /** Time-outs in a row of one tool that pause the session. */
  timeoutsBeforePause: number
}

/** Limits as an agent or a fork profile states them. */
export interface LimitSettings {
  /** Default: the model's own, else 5; 0 = tools are never run. */
  maxToolRounds?: number
  /** Default 10 minutes; a tool's own `timeout` comes first. */
  toolTimeout?: Duration
  /** Default 3. */
  timeoutsBeforePause?: number
}

export const DEFAULT_LIMITS: Limits = { maxToolRounds: 5, toolTimeoutMs: 600_000, timeoutsBeforePause: 3 }

/**
 * The limits that apply: what is stated, the rest from `base`.
 *
 * @param where names the agent or profile in errors
 * @throws StelloError INVALID_AGENT
 */
export function resolveLimits(settings: LimitSettings, base: Limits, where: string): Limits {
  return {
    maxToolRounds: count(settings.maxToolRounds ?? base.maxToolRounds, 0, `${where}maxToolRounds`),
    toolTimeoutMs: toMs(settings.toolTimeout ?? base.toolTimeoutMs, `${where}toolTimeout`, 'INVALID_AGENT'),
    timeoutsBeforePause: count(
      settings.timeoutsBeforePause ?? base.timeoutsBeforePause,
      1,
      `${where}timeoutsBeforePause`,
    ),
  }
}

function count(value: number, least: number, where: string): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new StelloError('INVALID_AGENT', `${where}: ${String(value)} is not a whole number of at least ${least}`)
}
