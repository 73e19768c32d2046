/** Messages in: deduplicated, bounded, answered in order. */
import { jsonBytes, preview } from '../agent/message.ts'
import { announce } from './announce.ts'
import type { Step } from './commands.ts'
import { fingerprint } from './fnv1a.ts'
import { INLINE_TEXT_LIMIT, QUEUE_LIMIT, QUEUE_TEXT_LIMIT, SEEN_LIMIT, type SessionState } from './state.ts'

/** A message without text has its body in the store already. */
export function messageReceived(state: SessionState, messageId: string, text: string | undefined): Step {
  const seen = fingerprint(messageId)
  if (state.seen.includes(seen)) return [state, []]
  const refusal = refusalOf(state)
  const known = { ...state, seen: [...state.seen.slice(1 - SEEN_LIMIT), seen] }
  if (refusal) return messageRejected(known, refusal, preview(text ?? messageId, 200), messageId)
  if (text === undefined || fits(state, text)) {
    return [{ ...known, queue: [...state.queue, { messageId, ...(text !== undefined && { text }) }] }, []]
  }
  const queue = [...state.queue, { messageId, storing: true as const }]
  return announce({ ...known, queue }, { message: { messageId, text }, tag: 'message' })
}

/** A message that was taken before this workflow was started anew comes before those that came since. */
export function takeUnanswered(state: SessionState, messageId: string | undefined): SessionState {
  if (messageId === undefined) return state
  const seen = fingerprint(messageId)
  return {
    ...state,
    seen: [...state.seen.filter((known) => known !== seen).slice(1 - SEEN_LIMIT), seen],
    queue: [{ messageId }, ...state.queue.filter((queued) => queued.messageId !== messageId)],
  }
}

/**
 * A malformed or refused message becomes an event that people see, never a stuck workflow. It is final for the message's
 * id: whoever waits for its turn finds the event by its key.
 */
export function messageRejected(state: SessionState, reason: string, text: string, messageId?: string): Step {
  const key = messageId === undefined ? {} : { key: rejectionKey(messageId) }
  return announce(state, { events: [{ ...key, type: 'message.rejected', data: { reason, preview: text } }] })
}

export function rejectionKey(messageId: string): string {
  return `rejected ${messageId}`
}

/** The message's text has reached the store: its turn may open. */
export function messageStored(state: SessionState, messageId: string | undefined): SessionState {
  return {
    ...state,
    queue: state.queue.map((queued) => (queued.messageId === messageId ? { messageId } : queued)),
  }
}

function refusalOf(state: SessionState): string | undefined {
  if (state.closing) return 'the session is closed'
  if (state.queue.length >= QUEUE_LIMIT) return `${QUEUE_LIMIT} messages are waiting already`
  return undefined
}

function fits(state: SessionState, text: string): boolean {
  const bytes = jsonBytes(text)
  const waiting = state.queue.reduce((sum, message) => sum + jsonBytes(message.text ?? ''), 0)
  return bytes <= INLINE_TEXT_LIMIT && waiting + bytes <= QUEUE_TEXT_LIMIT
}
