/** The limits of a turn and the bounds of a tree: their defaults and how they are read from what an author wrote. */
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

/**
 * The bounds of a tree of sessions. What counts is every session that was ever made, closed ones too: so many cost money,
 * however soon each ends. They hold for the whole tree from when its root is opened; only a client changes them then.
 */
export interface TreeBounds {
  /** Levels below the root. */
  maxDepth: number
  /** Children that one session opens in its life. */
  maxChildren: number
  /** Sessions of the tree, its root included. */
  maxSessions: number
}

export const DEFAULT_BOUNDS: TreeBounds = { maxDepth: 5, maxChildren: 50, maxSessions: 500 }

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

/** What is wrong with bounds as somebody states them, if anything. */
export function boundsProblem(stated: object): string | undefined {
  for (const [name, value] of Object.entries(stated) as [string, unknown][]) {
    if (!Object.hasOwn(DEFAULT_BOUNDS, name))
      return `${name} is no bound: there are ${Object.keys(DEFAULT_BOUNDS).join(', ')}`
    const least = name === 'maxSessions' ? 1 : 0
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least)) {
      return `${name}: ${JSON.stringify(value)} is not a whole number of at least ${least}`
    }
  }
  return undefined
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
