/**
 * How an error reaches Temporal. Every error that leaves an activity is built anew here: texts are cut, waits are
 * finite, and causes, details and foreign classes are left out. An error that the SDK cannot encode would end the
 * worker, and then every other worker that takes the step.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { messageOf, toStelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { Retries } from '../../core/retries.ts'
import { isDataError } from '../../store/database/database.ts'

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000
/** Wait between two tries of work that nothing can replace. */
const ENDLESS_DELAY_MS = 5000
/** The longest wait that we ask Temporal for. An agent's options allow no longer duration either. */
const LONGEST_WAIT_MS = 2 ** 31 - 1
/** Longest stack trace, in UTF-16 units: enough to show where a bug is. */
const STACK_LIMIT = 4000
const TYPE_LIMIT = 100

interface Leaving {
  message: string
  type: string
  nonRetryable?: boolean
  delayMs?: number | undefined
  /** Set for an unknown error: the place in the code may say more than the message. */
  stack?: string
}

/** Another attempt after `delayMs`; Temporal shows the message meanwhile. */
export function tryAgain(error: unknown, delayMs: number): ApplicationFailure {
  return leave({ message: explained(error), type: toStelloError(error)?.code ?? 'STEP_FAILED', delayMs })
}

/**
 * Makes the error that an activity throws when it did not settle its step. Content that was refused once will be
 * refused again, so only troubles of the infrastructure are worth another attempt.
 */
export function toFailure(error: unknown): ApplicationFailure | CancelledFailure {
  const leaving = read(error)
  return 'cancelled' in leaving ? new CancelledFailure(preview(leaving.cancelled)) : leave(leaving)
}

/** Says what went wrong and, if known, what to do about it, in at most 1,000 characters. */
export function explained(error: unknown): string {
  const hint = toStelloError(error)?.hint
  return hint ? `${preview(messageOf(error), 700)} (${preview(hint, 290)})` : preview(messageOf(error))
}

/** For work that nothing can replace: Temporal tries it until it succeeds, and shows the reason meanwhile. */
export function toEndlessRetry(error: unknown): ApplicationFailure {
  const leaving = read(error)
  if ('cancelled' in leaving) return tryAgain(error, ENDLESS_DELAY_MS)
  return leave({ ...leaving, nonRetryable: false, delayMs: leaving.delayMs || ENDLESS_DELAY_MS })
}

function leave({ message, type, nonRetryable = false, delayMs, stack }: Leaving): ApplicationFailure {
  const failure = ApplicationFailure.create({
    message: preview(message),
    type: preview(type, TYPE_LIMIT),
    nonRetryable,
    ...(delayMs !== undefined && { nextRetryDelay: finite(delayMs) }),
  })
  failure.stack = stack === undefined ? '' : preview(messageOf(stack), STACK_LIMIT)
  return failure
}

/** @param ms comes from an HTTP header, so it may be any number, also NaN or infinite */
function finite(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.round(Math.min(Math.max(ms, 0), LONGEST_WAIT_MS))
}

/** Reads what Temporal may know about anything that was thrown. Reading its fields may throw as well. */
function read(error: unknown): Leaving | { cancelled: string } {
  const message = explained(error)
  try {
    if (error instanceof CancelledFailure) return { cancelled: message }
    if (error instanceof ApplicationFailure) return readFailure(error, message)
    if (isDataError(error)) {
      return {
        message: `the store refuses what the step holds: ${message}`,
        type: 'STORE_CORRUPT',
        nonRetryable: true,
      }
    }
    const known = toStelloError(error)
    if (known?.fate === 'retry') {
      return { message, type: known.code, delayMs: known.retryAfterMs ?? FIRST_DELAY_MS }
    }
    if (known) return { message, type: known.code, nonRetryable: true }
    return { message, type: 'STEP_FAILED', ...describe(error) }
  } catch {
    return { message, type: 'STEP_FAILED' }
  }
}

/** Reads a failure that was made for Temporal, here or by user code. */
function readFailure({ type, nonRetryable, nextRetryDelay }: ApplicationFailure, message: string): Leaving {
  return {
    message,
    type: typeof type === 'string' ? type : 'STEP_FAILED',
    nonRetryable: nonRetryable === true,
    ...(typeof nextRetryDelay === 'number' && { delayMs: nextRetryDelay }),
  }
}

function describe(error: unknown): Partial<Pick<Leaving, 'type' | 'stack'>> {
  if (!(error instanceof Error)) return {}
  const { name, stack }: { name: unknown; stack?: unknown } = error
  return { ...(typeof name === 'string' && { type: name }), ...(typeof stack === 'string' && { stack }) }
}

/** The error that ends a step when its worker is asked to stop. Another worker takes the step. */
export function shutsDown(options?: ErrorOptions): Error {
  return new Error('the worker shuts down', options)
}

/**
 * @param failures how many attempts have failed, this one included
 * @param backoffMs the first wait; a longer one than the longest wait stays as it is
 */
export function backoffOf(failures: number, { backoffMs = FIRST_DELAY_MS }: Partial<Retries> = {}): number {
  return Math.min(backoffMs * 2 ** (failures - 1), Math.max(backoffMs, LONGEST_DELAY_MS))
}
