/** The limits of a turn and the bounds of a tree, as an author writes them. */
import { toMs, type Duration } from '../core/duration.ts'
import { StelloError } from '../core/errors.ts'
import { DEFAULT_BOUNDS, boundsProblem, type Limits, type TreeBounds } from '../protocol/limits.ts'

/** Limits as an agent or a fork profile states them. */
export interface LimitSettings {
  /** Default: the model's own, else 5; 0 = tools are never run. */
  maxToolRounds?: number
  /** Default 10 minutes; a tool's own `timeout` comes first. */
  toolTimeout?: Duration
  /** Default 3. */
  timeoutsBeforePause?: number
}

/**
 * The limits that apply: the stated ones, and the rest from `base`.
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

/** @throws StelloError INVALID_AGENT */
export function resolveBounds({ maxDepth, maxChildren, maxSessions }: Partial<TreeBounds>): TreeBounds {
  const stated = { maxDepth, maxChildren, maxSessions }
  const problem = boundsProblem(stated)
  if (problem !== undefined) throw new StelloError('INVALID_AGENT', problem)
  return {
    maxDepth: maxDepth ?? DEFAULT_BOUNDS.maxDepth,
    maxChildren: maxChildren ?? DEFAULT_BOUNDS.maxChildren,
    maxSessions: maxSessions ?? DEFAULT_BOUNDS.maxSessions,
  }
}

function count(value: number, least: number, where: string): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new StelloError('INVALID_AGENT', `${where}: ${String(value)} is not a whole number of at least ${least}`)
}
