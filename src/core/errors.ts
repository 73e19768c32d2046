/**
 * Every error code of the project, its fate and why it pauses a session, and the texts of errors: cut, and without
 * secrets. The workflow sandbox loads this file.
 *
 * Three fates at run time: `model` (the model reads it as a tool result and goes on), `retry` (Temporal schedules the
 * step again), `pause` (the session pauses with the reason; `resume` tries that very step again). `caller` errors
 * never reach a session: they are thrown at whoever misused the API.
 */

import { LONGEST_SECRET, withoutSecrets } from './secrets.ts'

/**
 * What an error leads to: the model reads it, the step is tried again, the session pauses, or the caller is thrown it.
 */
export type Fate = 'model' | 'retry' | 'pause' | 'caller'

/** Codes of errors that a model reads as the result of a call. */
export type ToolErrorCode =
  | 'TOOL_NOT_FOUND'
  | 'TOOL_VALIDATION_ERROR'
  | 'TOOL_PRECONDITION_FAILED'
  | 'TOOL_PERMISSION_DENIED'
  | 'TOOL_TIMEOUT'
  | 'TOOL_CANCELLED'
  | 'TOOL_EXECUTION_ERROR'
  | 'TOOL_OUTCOME_UNKNOWN'
  | 'TOOL_WORKER_LOST'
  | 'TOOL_WORKSPACE_LOST'
  | 'TOOL_ROUND_LIMIT'
  | 'TREE_LIMIT'

/** Every code that a `StelloError` can have. */
export type ErrorCode =
  | ToolErrorCode
  | 'MODEL_RATE_LIMITED'
  | 'MODEL_UNAVAILABLE'
  | 'STORE_UNAVAILABLE'
  | 'TOOLS_UNAVAILABLE'
  | 'WRONG_STORE'
  | 'MODEL_AUTH'
  | 'MODEL_NO_CREDIT'
  | 'MODEL_REFUSED_REQUEST'
  | 'MODEL_CONTEXT_TOO_LONG'
  | 'MODEL_BAD_ANSWER'
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
  | 'SESSION_ELSEWHERE'
  | 'AGENT_NOT_SERVED'
  | 'SERVER_UNREACHABLE'
  | 'DATABASE_UNREACHABLE'

/** The reasons for a pause. `budget` is reserved: nothing pauses for it yet. */
export const PAUSE_REASONS = ['user', 'tool_timeouts', 'model_error', 'budget', 'agent_error', 'store_error'] as const

/** Why a session is paused: somebody asked for it, or something went wrong that a person can mend. */
export type PauseReason = (typeof PAUSE_REASONS)[number]

/** What may be in order again without anybody telling the session: a provider's weather, or a key. A try finds out. */
export type Clearing = 'weather' | 'keys'

/** The model and the server that were asked. A person needs both to correct the settings. */
export interface AskedModel {
  model: string
  /** Host of its server. */
  host: string
  /** The environment variable of the key. */
  keyVariable: string
}

/** What a person reads and does where an error pauses a session. */
interface Pausing {
  reason: PauseReason
  hint: string
  /** The hint where it is known which model was asked. Unset: nothing is gained by that. */
  hintAt?(asked: AskedModel, status?: number): string
  clears?: Clearing
}

interface Known {
  fate: Fate
  /** Unset: only code of the agent's can be the reason. */
  pause?: Pausing
}

const AGENT: Pausing = { reason: 'agent_error', hint: 'mend the agent, start its worker, then resume' }
const STORE: Pausing = { reason: 'store_error', hint: 'mend what the message names, then resume' }
const model = (hint: string, more: Pick<Pausing, 'hintAt' | 'clears'> = {}): Pausing => ({
  reason: 'model_error',
  hint,
  ...more,
})

const ERRORS: Readonly<Record<ErrorCode, Known>> = {
  TOOL_NOT_FOUND: { fate: 'model' },
  TOOL_VALIDATION_ERROR: { fate: 'model' },
  TOOL_PRECONDITION_FAILED: { fate: 'model' },
  TOOL_PERMISSION_DENIED: { fate: 'model' },
  TOOL_TIMEOUT: { fate: 'model' },
  TOOL_CANCELLED: { fate: 'model' },
  TOOL_EXECUTION_ERROR: { fate: 'model' },
  TOOL_OUTCOME_UNKNOWN: { fate: 'model' },
  TOOL_WORKER_LOST: { fate: 'model' },
  TOOL_WORKSPACE_LOST: { fate: 'model' },
  TOOL_ROUND_LIMIT: { fate: 'model' },
  TREE_LIMIT: { fate: 'model' },

  MODEL_RATE_LIMITED: {
    fate: 'retry',
    pause: model('look at the limits of the account of the model, then resume', { clears: 'weather' }),
  },
  MODEL_UNAVAILABLE: {
    fate: 'retry',
    pause: model('look at the worker and at the server of the model, then resume', { clears: 'weather' }),
  },
  TOOLS_UNAVAILABLE: { fate: 'retry', pause: { ...AGENT, clears: 'weather' } },
  STORE_UNAVAILABLE: { fate: 'retry', pause: STORE },
  WRONG_STORE: { fate: 'retry', pause: STORE },

  MODEL_AUTH: {
    fate: 'pause',
    pause: model('set the key of the model where its worker runs, restart the worker, then resume', {
      clears: 'keys',
      hintAt: ({ keyVariable, host, model: name }) =>
        `set ${keyVariable} to a key that ${host} accepts for ${name}, restart the worker, then resume the session`,
    }),
  },
  MODEL_NO_CREDIT: {
    fate: 'pause',
    pause: model('check the plan and billing of the account of the model, then resume', {
      clears: 'keys',
      hintAt: ({ host }) => `check the plan and billing of the account at ${host}, then resume the session`,
    }),
  },
  MODEL_REFUSED_REQUEST: {
    fate: 'pause',
    pause: model('look at the name and the settings of the model, then resume', {
      hintAt: ({ host, model: name }, status) =>
        status === 404
          ? `check that ${host} serves ${name}, and that the base URL is right`
          : 'correct what the message names, then resume the session',
    }),
  },
  MODEL_CONTEXT_TOO_LONG: {
    fate: 'pause',
    pause: model('give the agent a model with a larger context, then resume; or go on in a new session', {
      hintAt: () => 'fork the session at an earlier record, or use a model with a longer context',
    }),
  },
  MODEL_BAD_ANSWER: { fate: 'pause', pause: model('look at the server of the model, then resume: it is asked again') },
  STORE_CORRUPT: { fate: 'pause', pause: STORE },

  INVALID_AGENT: { fate: 'caller' },
  INVALID_TOOL: { fate: 'caller' },
  INVALID_MESSAGE: { fate: 'caller' },
  INVALID_ARGUMENT: { fate: 'caller' },
  SESSION_NOT_FOUND: { fate: 'caller' },
  SESSION_EXISTS: { fate: 'caller' },
  SESSION_BUSY: { fate: 'caller' },
  SESSION_CLOSED: { fate: 'caller' },
  SESSION_PAUSED: { fate: 'caller' },
  SESSION_TERMINATED: { fate: 'caller' },
  SESSION_ELSEWHERE: { fate: 'caller' },
  AGENT_NOT_SERVED: { fate: 'caller' },
  SERVER_UNREACHABLE: { fate: 'caller' },
  DATABASE_UNREACHABLE: { fate: 'caller' },
}

export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS) as ErrorCode[]

export function fateOf(code: ErrorCode): Fate {
  return ERRORS[code].fate
}

/** Why a session pauses for an error of that code, whatever its fate is elsewhere, and what helps. */
export function reasonOf(code: ErrorCode): Pausing {
  return ERRORS[code].pause ?? AGENT
}

/** What else is known of an error. */
export interface StelloErrorOptions {
  /** What the reader can do about it: a command, a setting. */
  hint?: string
  /** How long to wait before another attempt, in milliseconds (from Retry-After). Only with fate `retry`. */
  retryAfterMs?: number
  /** The HTTP status that a provider answered with. */
  status?: number
  /** Only for a refused request: how many messages stand behind the one that the provider means. 0 = it is the last. */
  behind?: number
  /** The error behind it. */
  cause?: unknown
}

/**
 * The one error class. Recognise it by `isStelloError`, never by `instanceof`: it crosses realms (the workflow
 * sandbox) and duplicate copies of the package.
 *
 * @example throw new StelloError('TOOL_PRECONDITION_FAILED', 'the invoice is paid already', { hint: 'list open invoices' })
 */
export class StelloError extends Error {
  /** Tells it from other errors in logs. */
  override readonly name = 'StelloError'
  /** What kind of error it is, for programs. */
  readonly code: ErrorCode
  /** What the reader can do about it. */
  readonly hint: string | undefined
  /** How long to wait before another attempt, milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The HTTP status that a provider answered with. */
  readonly status: number | undefined
  /** Only for a refused request: how many messages stand behind the one that the provider means. 0 = it is the last. */
  readonly behind: number | undefined

  constructor(code: ErrorCode, message: string, options: StelloErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.retryAfterMs = options.retryAfterMs
    this.status = options.status
    this.behind = options.behind
  }

  /** What it leads to inside a session. */
  get fate(): Fate {
    return fateOf(this.code)
  }
}

/**
 * Whether something that was thrown is a `StelloError`, of whatever copy of the package. Never throws, whatever it is
 * asked about: user code may have thrown a proxy.
 *
 * @example if (isStelloError(error) && error.code === 'SESSION_CLOSED') await session.fork({ label: 'goes on' })
 */
export function isStelloError(error: unknown): error is StelloError {
  try {
    return error instanceof Error && error.name === 'StelloError' && 'code' in error && isCode(error.code)
  } catch {
    return false
  }
}

export function isCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code)
}

/**
 * Something that user code has thrown, as a StelloError that is safe to use: its texts are cut, its wait is a number,
 * its cause is left out. The error as a `StelloError`; undefined when it is none, or when its own fields throw.
 */
export function toStelloError(error: unknown): StelloError | undefined {
  if (!isStelloError(error)) return undefined
  try {
    const {
      code,
      hint,
      retryAfterMs: wait,
      status,
      behind,
    }: { code: ErrorCode; hint?: unknown; retryAfterMs?: unknown; status?: unknown; behind?: unknown } = error
    return new StelloError(code, messageOf(error), {
      ...(typeof hint === 'string' && { hint: shortened(hint) }),
      ...(typeof wait === 'number' && wait >= 0 && { retryAfterMs: wait }),
      ...(typeof status === 'number' && { status }),
      ...(typeof behind === 'number' && { behind }),
    })
  } catch {
    return undefined
  }
}

/** The store cannot be reached: another try may help. */
export function isUnavailable(error: unknown): error is StelloError {
  return isStelloError(error) && error.code === 'STORE_UNAVAILABLE'
}

/** Longest part of an error's text that is read, in UTF-16 units: a text may have megabytes. */
export const ERROR_TEXT_LIMIT: number = 16 * 1024
const READ_LIMIT = ERROR_TEXT_LIMIT + LONGEST_SECRET

/** The message of anything that was thrown: never throws, never longer than `ERROR_TEXT_LIMIT`, without secrets. */
export function messageOf(error: unknown): string {
  try {
    return shortened(textOf(error))
  } catch {
    return 'something that has no text was thrown'
  }
}

function textOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    const { message, name }: { message: unknown; name?: unknown } = error
    if (typeof message === 'string') return message || String(name)
  }
  return String(error)
}

/**
 * Cuts secrets first: the end of what is read may be half of a secret, so it is left out. The cut never splits a
 * character.
 */
function shortened(text: string): string {
  const whole = text.length <= READ_LIMIT
  const told = withoutSecrets(whole ? text : text.slice(0, READ_LIMIT))
  const sure = whole ? told : told.slice(0, -LONGEST_SECRET)
  if (whole && sure.length <= ERROR_TEXT_LIMIT) return sure
  return `${sure.slice(0, ERROR_TEXT_LIMIT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
