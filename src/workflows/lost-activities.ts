/** How an activity of a step ended that brought no outcome. Decides nothing. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow'
import { isCode, messageOf, type ErrorCode } from '../core/errors.ts'
import type { LostHow } from '../protocol/steps.ts'
import type { FailedStep, Input } from '../session/inputs.ts'

/**
 * Set if the activity was cancelled or ran into Temporal's time-out. A cancelled activity counts as cancelled even if
 * its worker was dead and another worker ended the attempt.
 */
export function lostHow(error: unknown): LostHow | undefined {
  if (isCancellation(error)) return 'cancelled'
  if (!(error instanceof ActivityFailure)) return undefined
  if (error.retryState === 'CANCEL_REQUESTED') return 'cancelled'
  return error.cause instanceof TimeoutFailure ? 'timedOut' : undefined
}

export function failed(step: FailedStep, error: unknown): Input {
  const cause = causeOf(error)
  return { type: 'stepFailed', step, code: codeOf(cause), message: messageOf(cause) }
}

/**
 * Activities put the code into the type of their failure. An error without one is not from this project, so a person
 * must look.
 */
function codeOf(cause: unknown): ErrorCode {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined
  return isCode(type) ? type : 'STORE_CORRUPT'
}

export function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : error
}
