/** What a conversation is made of on the page: messages, answers with their calls, and what happened between them. Types only. */
import type { Part, Usage } from '../../core/message.ts'
import type { Pause } from '../../core/pause.ts'
import type { PendingItem } from '../../protocol/pending.ts'

/** A call of a tool. `STOPPED`: its turn ended before the call did. */
export interface Card {
  callId: string
  name: string
  title?: string
  status: 'WAIT' | 'DOING' | 'SUCCESS' | 'ERROR' | 'STOPPED'
  /** The arguments as the model wrote them. They may be a beginning, and broken JSON. */
  arguments: string
  /** The arguments for people, as far as they are known. */
  params?: Record<string, unknown>
  showTip?: string
  /** When it began to run, in milliseconds since 1970, by the store's clock. */
  since?: number
  durationMs?: number
  /** The last update of each kind: `progress`, `output`, or `update` for what the tool itself has made. */
  updates: Readonly<Record<string, unknown>>
  result?: unknown
  /** The result that the model reads. */
  content?: string
  parts?: readonly Part[]
  /** The record of its result. */
  seq?: number
  code?: string
  details?: unknown
  /** The attempt that was heard last; 0 before any. Later ones have higher numbers. */
  attempt: number
  /** How often another attempt has begun it again, or taken it over, while somebody looked. */
  restarts: number
  /** The sessions that it has opened. */
  children: readonly { id: string; label: string; profile?: string }[]
  /** What it waits for. */
  pending?: PendingItem
  /** How it was answered. */
  answered?: string
  /** Who has decided whether it may run, where that was no matter of course. */
  permission?: { decision: 'allow' | 'ask' | 'deny'; by: string; rule?: string; why?: string }
}

interface Placed {
  /** Unique in the conversation, and stable. */
  key: string
  /** The record; for what is no record, the last one before it. Inherited records have places below 0. */
  seq: number
  /** Its place behind the record: 0 is the record itself. */
  after: number
  at: string
  /** The session that owns the record, where that is another one. */
  inheritedFrom?: string
  /** A summary stands for it when the model is asked. */
  summarised?: boolean
}

/** What somebody said to the agent, or to the model. */
export interface MessageEntry extends Placed {
  kind: 'message'
  role: 'user' | 'system'
  turn?: number
  text: string
  parts?: readonly Part[]
}

/** What the model has answered. */
export interface AnswerEntry extends Placed {
  kind: 'answer'
  turn?: number
  round?: number
  text: string
  parts?: readonly Part[]
  model?: string
  usage?: Usage
  /** The model's thoughts, if they streamed while the page was open. */
  reasoning?: string
  cards: readonly Card[]
  /** How often it was begun again while somebody looked. */
  restarts: number
}

/** What happened between the messages. */
export type Happening =
  | { is: 'turnEnded'; turn: number; stopReason: string; usage: Usage; rounds: number; ms: number }
  | { is: 'forked'; child: string; label: string; profile?: string }
  | { is: 'paused'; pause: Pause }
  | { is: 'resumed'; tries?: number }
  | { is: 'compacted'; messages: number; text: string; cut: boolean; why: string }
  | { is: 'rejected'; reason: string; preview?: string }
  | { is: 'quarantined'; name: string; deaths: number }
  | { is: 'takenOver'; kind: string; name: string; worker: string }
  | { is: 'workspace'; host: string; lost: boolean }
  | { is: 'wentBack'; generation: number; restarted: boolean }
  | { is: 'closed' }

export interface NoteEntry extends Placed {
  kind: 'note'
  note: Happening
}

export type Entry = MessageEntry | AnswerEntry | NoteEntry

/** What a model streams now. Its record replaces it. */
export interface Streaming {
  step: string
  /** The attempt that streams. Later ones have higher numbers. */
  attempt: number
  /** How often an attempt has begun it again: what those before had streamed is gone. */
  restarts: number
  /** The connection that it was heard on. Another one tells it from its beginning. */
  connection: number
  at: string
  model?: string
  text: string
  reasoning: string
  cards: readonly Card[]
}
