/** A call that a person is asked about: the question that its step is parked with, and what closes it again. */
import { preview } from '../../core/message.ts'
import { PENDING, type Decision, type PendingItem, type PendingKind } from '../../protocol/pending.ts'
import { newEvent } from '../../protocol/events.ts'
import { pendingId } from '../../protocol/keys.ts'
import { withEvent, type Ending } from '../step/end-step.ts'
import { shownNames } from './call-names.ts'
import type { CallAtHand } from './tool-call.ts'

/** Who has the step in hand; `parked`: a question that was put before, which stays as it is. */
interface Holder {
  gen: number
  lease: number
  parked?: PendingItem
}

/** @param about what the question says, where its kind leaves that to who asks */
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

/** What ends the wait also closes its item. */
export function closing<Outcome>(
  ending: Ending<Outcome>,
  { id, kind, name, title, callId, turn, round }: PendingItem,
  decision: Decision | 'cancelled',
): Ending<Outcome> {
  const data = { id, kind, name, ...(title !== undefined && { title }), callId, turn, decision }
  return withEvent(ending, newEvent('pending.closed', { of: [id], at: { turn, round }, data }))
}
