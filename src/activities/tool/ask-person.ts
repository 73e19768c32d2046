/**
 * A call that a person is asked about: the question that is stored when its step is parked, and the event that closes
 * it.
 */
import { preview } from '../../core/message.ts'
import { PENDING, type Decision, type PendingItem, type PendingKind } from '../../protocol/pending.ts'
import { newEvent } from '../../protocol/events.ts'
import { pendingId } from '../../protocol/keys.ts'
import { withEvent, type Ending } from '../step/end-step.ts'
import { shownNames } from './call-names.ts'
import type { CallAtHand } from './tool-call.ts'

/** The lease on the step. `parked`: a question that was asked before; it stays as it is. */
interface Holder {
  gen: number
  lease: number
  parked?: PendingItem
}

/** @param about the text of the question, for kinds that leave it to the asker */
export function askPerson<Outcome>(
  { input, call }: Pick<CallAtHand, 'input' | 'call'>,
  { gen, lease, parked }: Holder,
  { kind, about }: { kind: PendingKind; about?: string },
): Ending<Outcome> {
  const question = parked ?? {
    id: pendingId({ key: input.key, gen, lease }),
    kind,
    ...shownNames(input.call),
    turn: input.turn,
    round: input.round,
    preview: preview(call.arguments, 200),
    message: PENDING[kind].message(input.call.title ?? call.name, about),
  }
  return { kind: 'park', question }
}

/** Adds the event that closes the item to the ending that ends the wait. */
export function closing<Outcome>(
  ending: Ending<Outcome>,
  { id, kind, name, title, callId, turn, round }: PendingItem,
  decision: Decision | 'cancelled',
): Ending<Outcome> {
  const data = { id, kind, name, ...(title !== undefined && { title }), callId, turn, decision }
  return withEvent(ending, newEvent('pending.closed', { of: [id], at: { turn, round }, data }))
}
