/** How an error of a step reaches Temporal: tried again, or given to the workflow, which pauses the session. */
import { ApplicationFailure } from '@temporalio/common'
import { isStelloError, messageOf } from '../agent/errors.ts'
import type { Pause } from '../session/steps.ts'
import { isDataError } from '../store/database.ts'

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000

/** Another attempt after `delayMs`; Temporal shows the message meanwhile. */
export function tryAgain(error: unknown, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: explained(error),
    type: isStelloError(error) ? error.code : 'STEP_FAILED',
    nextRetryDelay: delayMs,
    ...(error instanceof Error && { cause: error }),
  })
}

/** What an activity throws for an error it did not settle: refused content stays refused, so only infrastructure is worth another attempt. */
export function toFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure) return error
  if (isDataError(error)) {
    return ApplicationFailure.nonRetryable(
      `the store refuses what the step holds: ${messageOf(error)}`,
      'STORE_CORRUPT',
    )
  }
  if (!isStelloError(error)) return error instanceof Error ? error : new Error(messageOf(error))
  if (error.fate === 'retry') return tryAgain(error, error.retryAfterMs ?? FIRST_DELAY_MS)
  return ApplicationFailure.nonRetryable(explained(error), error.code)
}

/** What went wrong, and what to do about it where that is known. */
export function explained(error: unknown): string {
  const hint = isStelloError(error) ? error.hint : undefined
  return hint ? `${messageOf(error)} (${hint})` : messageOf(error)
}

/** For work that nothing can replace: tried until it succeeds; Temporal shows why it does not. */
export function toEndlessRetry(error: unknown): Error {
  return tryAgain(error, (isStelloError(error) && error.retryAfterMs) || 5000)
}

/** What ends a step whose worker is asked to stop: another worker takes it. */
export function shutsDown(options?: ErrorOptions): Error {
  return new Error('the worker shuts down', options)
}

/** @param failures how many attempts have failed, this one included */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS)
}

/** Why a model call that cannot go on pauses the session. */
export function toPause(error: unknown): Pause {
  const hint = isStelloError(error) ? error.hint : undefined
  return { reason: 'model_error', message: messageOf(error), ...(hint && { hint }) }
}
