/**
 * Every error code of the project and its fate. Import-free: the workflow sandbox loads this file.
 *
 * Three fates at run time: `model` (the model reads it as a tool result and goes on), `retry` (Temporal schedules the
 * step again), `pause` (the session pauses with the reason; `resume` tries that very step again). `caller` errors
 * never reach a session: they are thrown at whoever misused the API.
 */

export type Fate = 'model' | 'retry' | 'pause' | 'caller'

export type ToolErrorCode =
  | 'TOOL_NOT_FOUND'
  | 'TOOL_VALIDATION_ERROR'
  | 'TOOL_PRECONDITION_FAILED'
  | 'TOOL_PERMISSION_DENIED'
  | 'TOOL_TIMEOUT'
  | 'TOOL_CANCELLED'
  | 'TOOL_EXECUTION_ERROR'
  | 'TOOL_OUTCOME_UNKNOWN'
  | 'TOOL_ROUND_LIMIT'
  | 'TREE_LIMIT'

export type ErrorCode =
  | ToolErrorCode
  | 'MODEL_RATE_LIMITED'
  | 'MODEL_UNAVAILABLE'
  | 'STORE_UNAVAILABLE'
  | 'MODEL_AUTH'
  | 'MODEL_REFUSED_REQUEST'
  | 'MODEL_CONTEXT_TOO_LONG'
  | 'STORE_CORRUPT'
  | 'INVALID_AGENT'
  | 'INVALID_TOOL'
  | 'INVALID_MESSAGE'
  | 'INVALID_ARGUMENT'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_EXISTS'
  | 'SESSION_BUSY'
  | 'SESSION_CLOSED'
  | 'SESSION_PAUSED'
  | 'SESSION_TERMINATED'
  | 'SERVER_UNREACHABLE'
  | 'DATABASE_UNREACHABLE'

const FATES: Readonly<Record<ErrorCode, Fate>> = {
  TOOL_NOT_FOUND: 'model',
  TOOL_VALIDATION_ERROR: 'model',
  TOOL_PRECONDITION_FAILED: 'model',
  TOOL_PERMISSION_DENIED: 'model',
  TOOL_TIMEOUT: 'model',
  TOOL_CANCELLED: 'model',
  TOOL_EXECUTION_ERROR: 'model',
  TOOL_OUTCOME_UNKNOWN: 'model',
  TOOL_ROUND_LIMIT: 'model',
  TREE_LIMIT: 'model',

  MODEL_RATE_LIMITED: 'retry',
  MODEL_UNAVAILABLE: 'retry',
  STORE_UNAVAILABLE: 'retry',

  MODEL_AUTH: 'pause',
  MODEL_REFUSED_REQUEST: 'pause',
  MODEL_CONTEXT_TOO_LONG: 'pause',
  STORE_CORRUPT: 'pause',

  INVALID_AGENT: 'caller',
  INVALID_TOOL: 'caller',
  INVALID_MESSAGE: 'caller',
  INVALID_ARGUMENT: 'caller',
  SESSION_NOT_FOUND: 'caller',
  SESSION_EXISTS: 'caller',
  SESSION_BUSY: 'caller',
  SESSION_CLOSED: 'caller',
  SESSION_PAUSED: 'caller',
  SESSION_TERMINATED: 'caller',
  SERVER_UNREACHABLE: 'caller',
  DATABASE_UNREACHABLE: 'caller',
}

export interface StelloErrorOptions {
  /** What the reader can do about it: a command, a setting. */
  hint?: string
  /** How long to wait before another attempt, in milliseconds (from Retry-After). Only with fate `retry`. */
  retryAfterMs?: number
  cause?: unknown
}

/**
 * The one error class. Recognise it by `isStelloError`, never by `instanceof`: it crosses realms (the workflow
 * sandbox) and duplicate copies of the package.
 */
export class StelloError extends Error {
  override readonly name = 'StelloError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, options: StelloErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
  }

  get fate(): Fate {
    return FATES[this.code]
  }
}

export function isStelloError(error: unknown): error is StelloError {
  return error instanceof Error && error.name === 'StelloError' && 'code' in error
}

/** The store cannot be reached: another try may help. */
export function isUnavailable(error: unknown): error is StelloError {
  return isStelloError(error) && error.code === 'STORE_UNAVAILABLE'
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  return typeof error === 'string' ? error : String(error)
}
