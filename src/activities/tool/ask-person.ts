/**
 * A call that a person is asked about: the question that is stored when its step is parked, and the event that closes
 * it.
 */
import { preview } from '../../core/message.ts'
import {
  PENDING,
  type Decision,
  type Expiry,
  type QuestionForm,
  type PendingItem,
  type PendingKind,
  type ShownToPermit,
} from '../../protocol/pending.ts'
import type { Answer, Decided } from '../../protocol/read-answer.ts'
import { newEvent } from '../../protocol/events.ts'
import { pendingId } from '../../protocol/keys.ts'
import { withEvents, type Ending } from '../step/end-step.ts'
import { shown } from './shown.ts'
import { shownNames } from './call-names.ts'
import type { ToPermit } from './call-permit.ts'
import type { CallAtHand } from './call-at-hand.ts'

/** The lease on the step. `parked`: a question that was asked before; it stays as it is. */
interface Holder {
  gen: number
  lease: number
  parked?: PendingItem
}

/** The question. `about`: its text, for kinds that leave it to the asker. */
export interface Asked {
  kind: PendingKind
  about?: string
  form?: QuestionForm
  permit?: ShownToPermit
  expiry?: Expiry
}

/** The question whether a call whose end nobody knows took effect. */
export const UNKNOWN: Asked = { kind: 'unknown_outcome' }

/** The question whether a call may run. */
export function toPermit({ question, shown, expiry }: ToPermit): Asked {
  return { kind: 'approval', about: question, permit: shown, ...(expiry && { expiry }) }
}

export function askPerson<Outcome>(
  { input, call }: Pick<CallAtHand, 'input' | 'call'>,
  { gen, lease, parked }: Holder,
  { kind, about, form, permit, expiry }: Asked,
): Ending<Outcome> {
  const question = parked ?? {
    id: pendingId({ key: input.key, gen, lease }),
    kind,
    ...shownNames(input.call),
    turn: input.turn,
    round: input.round,
    preview: preview(call.arguments, 200),
    message: PENDING[kind].message(input.call.title ?? call.name, about),
    ...(form && { form }),
    ...(permit && { permit }),
    ...(expiry && { otherwise: expiry.otherwise }),
  }
  return { kind: 'park', question, ...(expiry && { expiresInMs: expiry.inMs }) }
}

/** The end of a wait: an answer of a person, the end of the time for it, or a stop. */
type Closed = {
  decision: Decision | 'cancelled'
  by?: 'person' | 'expired'
  args?: Decided['args'] | undefined
} & Pick<Answer, 'remember'>

/** Longest arguments of a person in the event, as JSON. */
const ARGS_SHOWN = 4096

/** Adds the event that closes the item to the ending that ends the wait. */
export function closing<Outcome>(
  ending: Ending<Outcome>,
  { id, kind, name, title, callId, turn, round }: PendingItem,
  { decision, by, args, remember }: Closed,
): Ending<Outcome> {
  const data = {
    id,
    kind,
    name,
    ...(title !== undefined && { title }),
    callId,
    turn,
    decision,
    ...(by && { by }),
    ...(args && { args: shown(args, ARGS_SHOWN) }),
    ...(remember && { remember }),
  }
  return withEvents(ending, newEvent('pending.closed', { of: [id], at: { turn, round }, data }))
}
