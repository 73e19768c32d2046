/** The limits of a turn, the bounds of a tree, and how much of a text is carried. */

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

/** The longest time that a model call holds a slot of its worker while its provider is away, milliseconds. */
export const IN_LINE_MS = 30_000

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

/** A text of more bytes, of a message or of an answer, is kept in the store; what Temporal carries is its id. */
export const INLINE_TEXT_LIMIT: number = 4 * 1024

/** How much of a record events and outcomes tell. The store leaves out what it can cut from the record again. */
export const SHOWN = {
  /** UTF-16 units of what a user or a model says. */
  message: 4096,
  /** Bytes of the name of a call. */
  callName: 64,
  /** Bytes of its arguments. */
  arguments: 100,
} as const
