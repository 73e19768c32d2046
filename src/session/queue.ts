/** The queue of messages: without duplicates, bounded, answered in order. */
import { brief, jsonBytes } from '../core/message.ts'
import { announce, refuse } from './outbox.ts'
import type { Step } from './commands.ts'
import { QUEUE_LIMIT, QUEUE_TEXT_LIMIT, SEEN_LIMIT, type SessionState } from './state.ts'
import { INLINE_TEXT_LIMIT } from '../protocol/limits.ts'

/** How many bytes of the reason and of the message a refusal keeps. */
const REASON_LIMIT = 160
const PREVIEW_LIMIT = 100

/** If a message has no text, its body is already in the store. */
export function messageReceived(state: SessionState, messageId: string, text: string | undefined): Step {
  if (isKnown(state, messageId)) return [state, []]
  const refusal = state.closing ? 'the session is closed' : fullBy(state)
  const known = { ...state, seen: [...state.seen.slice(1 - SEEN_LIMIT), messageId] }
  if (refusal) return messageRejected(known, refusal, { preview: text ?? messageId, messageId })
  if (text === undefined || fits(state, text)) {
    return [{ ...known, queue: [...state.queue, { messageId, ...(text !== undefined && { text }) }] }, []]
  }
  const queue = [...state.queue, { messageId, storing: true as const }]
  return announce({ ...known, queue }, { message: { messageId, text }, tag: 'message' })
}

/** The message was taken or refused before: nothing more happens. */
export function isKnown({ seen, queue, turn }: SessionState, messageId: string): boolean {
  const waits = queue.some((queued) => queued.messageId === messageId)
  return waits || turn?.opening.messageId === messageId || seen.includes(messageId)
}

/**
 * A message that was taken before this workflow was started anew comes before those that came since. A stop that came
 * since means its turn.
 */
export function takeUnanswered(state: SessionState, messageId: string | undefined): SessionState {
  if (messageId === undefined) return state
  return {
    ...state,
    ...(state.stopFound && { cancelNext: true }),
    seen: [...state.seen.filter((known) => known !== messageId).slice(1 - SEEN_LIMIT), messageId],
    queue: [{ messageId }, ...state.queue.filter((queued) => queued.messageId !== messageId)],
  }
}

/**
 * A malformed or refused message becomes an event that people see, never a stuck workflow. It is final for the
 * message's id in this line of history. A caller that waits for its turn finds the event by that id. So does the claim
 * of a turn, if the workflow has forgotten the refusal (`claim.ts`).
 */
export function messageRejected(
  state: SessionState,
  reason: string,
  { preview, messageId }: { preview: string; messageId?: string },
): Step {
  const data = { reason: brief(reason, REASON_LIMIT), preview: brief(preview, PREVIEW_LIMIT) }
  return refuse(state, { type: 'message.rejected', data: { ...data, ...(messageId !== undefined && { messageId }) } })
}

/** The text of the message has reached the store, so its turn may open. */
export function messageStored(state: SessionState, messageId: string | undefined): SessionState {
  return {
    ...state,
    queue: state.queue.map((queued) => (queued.messageId === messageId ? { messageId } : queued)),
  }
}

/** @param arriving messages that were taken and have not reached the queue */
export function fullBy({ queue }: SessionState, arriving = 0): string | undefined {
  return queue.length + arriving >= QUEUE_LIMIT ? `${QUEUE_LIMIT} messages are waiting already` : undefined
}

function fits(state: SessionState, text: string): boolean {
  const bytes = jsonBytes(text)
  const waiting = state.queue.reduce((sum, message) => sum + jsonBytes(message.text ?? ''), 0)
  return bytes <= INLINE_TEXT_LIMIT && waiting + bytes <= QUEUE_TEXT_LIMIT
}
