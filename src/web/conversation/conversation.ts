/**
 * One session's conversation, as events and records tell it. Pure: the same events in any batches, with any connections
 * lost between them, give the same conversation. It must never ask for anything, or know a clock.
 *
 * Durable events count once, by their offsets. Records and events name a record by its `seq`, so they may come in any
 * order and complete each other. Streamed pieces belong to a step and an attempt: a later attempt begins again, and so
 * does a new connection, because the server then tells a step from its beginning.
 */
import {
  draftOf,
  NO_USAGE,
  type Conversation,
  type DurableWebEvent,
  type LiveWebEvent,
  type WebEvent,
} from './conversation-state.ts'
import { tellDurable } from './durable-events.ts'
import { tellLive } from './live-events.ts'

export function emptyConversation(sessionId: string): Conversation {
  return {
    sessionId,
    entries: [],
    streaming: [],
    next: 0,
    connection: 0,
    told: 0,
    lastSeq: 0,
    usage: NO_USAGE,
    pending: [],
    taken: new Set(),
    closed: false,
  }
}

/** @param events; those of other sessions are passed over */
export function withEvents(before: Conversation, events: readonly WebEvent[]): Conversation {
  const draft = draftOf(before)
  for (const event of events) {
    if (event.sessionId !== before.sessionId) continue
    if (event.offset === undefined) tellLive(draft, event as LiveWebEvent)
    else if (event.offset >= draft.next) {
      draft.next = event.offset + 1
      tellDurable(draft, event as DurableWebEvent)
    }
  }
  return draft
}

/** A new connection tells what streams from its beginning. Until it does, what was heard last stays. */
export function connected(before: Conversation): Conversation {
  return { ...before, connection: before.connection + 1 }
}
