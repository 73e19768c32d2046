/** The error with which a tool says that it has done nothing, so that it may be tried again. */
import { toMs, type Duration } from './duration.ts'

/** What else is known of a `RetryableError`. */
export interface RetryableErrorOptions {
  /** How long to wait before the tool is called again. Default: the tool's backoff. */
  retryAfter?: Duration
  /** The error behind it. */
  cause?: unknown
}

/**
 * A tool throws it when it could not begin: nothing was done, so the call is tried again, whatever the tool's effect. It
 * counts against the tool's attempts (`retries`). After the last one, the model reads TOOL_EXECUTION_ERROR. A tool that
 * may have done something must not throw it.
 *
 * @throws StelloError INVALID_ARGUMENT when `retryAfter` is no duration
 * @example
 * if (response.status === 429) throw new RetryableError('the bank is busy', { retryAfter: '5s' })
 */
export class RetryableError extends Error {
  /** Tells it from other errors in logs. */
  override readonly name = 'RetryableError'
  /** Tells it from errors of that name in other libraries, which may have done something. */
  readonly nothingDone = true
  /** How long to wait before the next attempt, milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, options: RetryableErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.retryAfterMs = options.retryAfter === undefined ? undefined : toMs(options.retryAfter, 'retryAfter')
  }
}

/**
 * Recognises a `RetryableError` of whatever copy of the package. Never throws: user code may have thrown a proxy.
 *
 * @returns how long to wait, if the error says so; undefined if it is another error
 */
export function readRetryable(error: unknown): { afterMs?: number } | undefined {
  try {
    if (!(error instanceof Error) || error.name !== 'RetryableError') return undefined
    const { nothingDone, retryAfterMs: wait } = error as Partial<Record<keyof RetryableError, unknown>>
    if (nothingDone !== true) return undefined
    return typeof wait === 'number' && wait >= 0 ? { afterMs: wait } : {}
  } catch {
    return undefined
  }
}
