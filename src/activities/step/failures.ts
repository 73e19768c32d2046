/**
 * How an error reaches Temporal. Whatever leaves an activity is made anew here: texts are cut, waits are finite, and causes,
 * details and foreign classes stay behind. What the SDK cannot encode would end the worker, and each that takes the step.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { messageOf, toStelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { isDataError } from '../../store/database.ts'

/** Attempts at user code that may be repeated and throws: a pure or idempotent tool, a `contextFn`. */
export const TOOL_ATTEMPTS = 3

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000
/** Work that nothing can replace is tried this often. */
const ENDLESS_DELAY_MS = 5000
/** The longest wait Temporal is asked for: as long as the longest duration of an agent. */
const LONGEST_WAIT_MS = 2 ** 31 - 1
/** Of a stack trace, in UTF-16 units: where a bug is. */
const STACK_LIMIT = 4000
const TYPE_LIMIT = 100

interface Leaving {
  message: string
  type: string
  nonRetryable?: boolean
  delayMs?: number | undefined
  /** Of an error whose place in the code may tell more than its words. */
  stack?: string
}

/** Another attempt after `delayMs`; Temporal shows the message meanwhile. */
export function tryAgain(error: unknown, delayMs: number): ApplicationFailure {
  return leave({ message: explained(error), type: toStelloError(error)?.code ?? 'STEP_FAILED', delayMs })
}

/** What an activity throws for an error it did not settle: refused content stays refused, so only infrastructure is worth another attempt. */
export function toFailure(error: unknown): ApplicationFailure | CancelledFailure {
  const leaving = read(error)
  return 'cancelled' in leaving ? new CancelledFailure(preview(leaving.cancelled)) : leave(leaving)
}

/** What went wrong, and what to do about it where that is known, in at most 1,000 characters. */
export function explained(error: unknown): string {
  const hint = toStelloError(error)?.hint
  return hint ? `${preview(messageOf(error), 700)} (${preview(hint, 290)})` : preview(messageOf(error))
}

/** For work that nothing can replace: tried until it succeeds; Temporal shows why it does not. */
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

/** @param ms of a header, so anything that is called a number */
function finite(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.round(Math.min(Math.max(ms, 0), LONGEST_WAIT_MS))
}

/** What may be told of anything that was thrown; its own fields may throw. */
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

/** One that was made for Temporal, here or by user code. */
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

/** What ends a step whose worker is asked to stop: another worker takes it. */
export function shutsDown(options?: ErrorOptions): Error {
  return new Error('the worker shuts down', options)
}

/** @param failures how many attempts have failed, this one included */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS)
}
