/** What a conversation holds, also while a batch of events is told to it. */
import type { Usage } from '../../core/message.ts'
import type { Pause } from '../../core/pause.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import type { StelloEvent } from '../../protocol/events.ts'
import type { Json } from '../../http/json.ts'
import type { Entry, Streaming } from './entries.ts'

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
  /** How many records events have told of. Results of one round come in any order. */
  readonly told: number
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

/** A conversation while a batch is told to it. Its entries are replaced, never changed. */
export type Draft = { -readonly [Key in keyof Conversation]: Conversation[Key] } & {
  entries: Entry[]
  streaming: Streaming[]
  taken: Set<string>
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
