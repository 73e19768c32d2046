/**
 * One session's conversation, as events and records tell it. Pure: the same events in any batches, with any connections
 * lost between them, give the same conversation. It must never ask for anything, or know a clock.
 *
 * Durable events count once, by their offsets. Records and events name a record by its `seq`, so they may come in any
 * order and complete each other. Streamed pieces belong to a step and an attempt: a later attempt begins again, and so
 * does a new connection, because the server then tells a step from its beginning.
 */
import type { Usage } from '../../core/message.ts'
import type { Pause } from '../../core/pause.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import type { StelloEvent } from '../../protocol/events.ts'
import type { Json } from '../../http/json.ts'
import type { Entry, Streaming } from './entries.ts'
import { tellDurable } from './durable-events.ts'
import { tellLive } from './live-events.ts'

/** An event as it comes over HTTP. */
export type WebEvent = Json<StelloEvent>
export type DurableWebEvent = Extract<WebEvent, { offset: number }>
export type LiveWebEvent = Exclude<WebEvent, { offset: number }>

export interface Conversation {
  readonly sessionId: string
  /** In the order of the conversation. */
  readonly entries: readonly Entry[]
  readonly streaming: readonly Streaming[]
  /** The offset of the next durable event. */
  readonly next: number
  /** How often it was connected. */
  readonly connection: number
  /** The last record that an event has told of. */
  readonly lastSeq: number
  /** The turn under way. */
  readonly turn?: { readonly n: number; readonly since: string; readonly usage: Usage; readonly rounds: number }
  readonly usage: Usage
  readonly pause?: Pause
  /** The provider that its model call waits for. */
  readonly weather?: { readonly provider: string; readonly why: string; readonly nextTry: number }
  /** What waits for a person. */
  readonly pending: readonly PendingItem[]
  /** The messages whose turns have begun, and those that were refused. */
  readonly taken: ReadonlySet<string>
  readonly closed: boolean
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 }

export function emptyConversation(sessionId: string): Conversation {
  return {
    sessionId,
    entries: [],
    streaming: [],
    next: 0,
    connection: 0,
    lastSeq: 0,
    usage: NO_USAGE,
    pending: [],
    taken: new Set(),
    closed: false,
  }
}

/** A conversation while a batch is told to it. Its entries are replaced, never changed. */
export type Draft = { -readonly [Key in keyof Conversation]: Conversation[Key] } & {
  entries: Entry[]
  streaming: Streaming[]
  taken: Set<string>
}

/** @param events of this session; those of others are passed over */
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

export function draftOf(before: Conversation): Draft {
  return { ...before, entries: [...before.entries], streaming: [...before.streaming], taken: new Set(before.taken) }
}

export function addUsage(one: Usage, other: Partial<Usage> = {}): Usage {
  const cost = other.costUsd === undefined ? one.costUsd : (one.costUsd ?? 0) + other.costUsd
  const cached = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0)
  return {
    inputTokens: one.inputTokens + (other.inputTokens ?? 0),
    outputTokens: one.outputTokens + (other.outputTokens ?? 0),
    ...(cached > 0 && { cachedTokens: cached }),
    ...(cost !== undefined && { costUsd: cost }),
  }
}
