/** The limits of a turn and the bounds of a tree: their defaults. */

export interface Limits {
  /** Rounds of tool calls per turn; the model is asked at most this + 1 times. */
  maxToolRounds: number
  /** Default time-out of a tool, milliseconds. */
  toolTimeoutMs: number
  /** Time-outs in a row of one tool that pause the session. */
  timeoutsBeforePause: number
}

/**
 * The bounds of a tree of sessions. Every session that was ever created counts, closed ones too, because each has cost
 * money. The bounds hold for the whole tree from the time its root is opened. After that, only a client changes them.
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

/** How long one model call may take, milliseconds. */
export const MODEL_TIMEOUT_MS = 600_000

export const DEFAULT_LIMITS: Limits = { maxToolRounds: 5, toolTimeoutMs: 600_000, timeoutsBeforePause: 3 }

/** The problem with stated bounds; undefined when there is none. */
export function boundsProblem(stated: object): string | undefined {
  for (const [name, value] of Object.entries(stated) as [string, unknown][]) {
    if (!Object.hasOwn(DEFAULT_BOUNDS, name))
      return `${name} is not a bound; the bounds are ${Object.keys(DEFAULT_BOUNDS).join(', ')}`
    const least = name === 'maxSessions' ? 1 : 0
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least)) {
      return `${name}: ${JSON.stringify(value)} is not a whole number of at least ${least}`
    }
  }
  return undefined
}
