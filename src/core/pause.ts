/** Why a session is paused, and how an error becomes a pause: the one place where that is decided. */
import { reasonOf, messageOf, toStelloError, StelloError, type Clearing, type PauseReason } from './errors.ts'
import { preview } from './message.ts'

/** A pause: nothing new starts until a resume. */
export interface Pause {
  /** Which kind of reason, for programs. */
  reason: PauseReason
  /** For people: what happened. */
  message: string
  /** For people: what to do before `resume`. */
  hint?: string
  /** What may be in order again by itself. Unset: only a person can mend the reason. */
  clears?: Clearing
  /** When the session tries again by itself, ISO 8601. Unset: it waits for a resume. */
  nextTryAt?: string
}

/**
 * The pause that an error leads to, with the reason and the hint of its code; a hint of its own beats that.
 *
 * @param error anything that was thrown; what has no code is a fault of the agent's own code
 * @example toPause(new StelloError('MODEL_AUTH', 'the key is wrong')) // { reason: 'model_error', message: …, hint: … }
 */
export function toPause(error: unknown): Pause {
  const known = toStelloError(error) ?? new StelloError('INVALID_AGENT', messageOf(error))
  const { reason, hint, clears } = reasonOf(known.code)
  return {
    reason,
    message: preview(known.message),
    hint: preview(known.hint ?? hint),
    ...(clears && { clears }),
  }
}
