/**
 * Facts that the workflow owns and no step commits, on their way to the store. They are bounded JSON, like everything
 * that crosses processes.
 */
import type { AnnouncedEvent } from './events.ts'
import type { Pause } from '../core/pause.ts'
import type { Opening, StepRef, StopReason } from './steps.ts'

/** A message or an answer that was not taken. */
export type Refusal = Extract<AnnouncedEvent, { type: 'message.rejected' | 'answer.rejected' }>

/** Ends a turn outside a model call. Its text is read from record `textFrom`. */
export interface TurnEnding {
  stopReason: StopReason
  rounds: number
  textFrom?: number
  /** The provider has refused the turn's request for good: models no longer read its records, of which this is the last. */
  leftOut?: number
  /** Set while the model has not answered yet: the message and its record, written if the turn never was opened. */
  opening?: Opening & { seq: number }
}

/** Workflow-owned facts that are told to the store: pauses, rejections, turns that end outside a model call, the close. */
export interface AnnounceInput extends StepRef {
  /** The number of this announcement: what it tells lies behind all before it. */
  told: number
  events: AnnouncedEvent[]
  /** `null` clears it; absent leaves it. */
  pause?: Pause | null
  endTurn?: TurnEnding
  /**
   * Nothing is begun any more in the session and below it: it is about to close, and its forks are. `unopened`: this holds only if
   * the session was never opened.
   */
  closing?: true | 'unopened'
  /** Ends the messages that still wait, and the session. */
  close?: {
    messages: Opening[]
    /** The forks are to close too: `limit` of the open children behind one are asked for in return. */
    cascade: boolean
    limit?: number
    after?: string
  }
  /** A raw signal's text that is too big to stay in workflow state. */
  message?: { messageId: string; text: string }
}

export interface AnnounceOutcome {
  gen: number
  /** For a close, where this session or one above it closes its forks too: children that are open, in order of their ids. */
  children: string[]
  /** For a pause: people outside are to be told of it. */
  tell?: true
  /** For a close: packs are to be told of it. `host`: there, since the session's working folder is there. */
  release?: { host?: string }
}

/** A session that was closed, and of which packs are told. */
export interface ReleaseInput {
  sessionId: string
  store?: string
}
