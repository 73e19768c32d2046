/**
 * The events of sessions that watchers see. A durable event is certain: it is committed together with the fact that it
 * tells, and it has an offset. A live event may be lost, and has no offset. Data is JSON of limited size: the code that
 * makes an event cuts its texts.
 */
import type { ToolErrorCode } from '../core/errors.ts'
import type { Usage } from '../core/message.ts'
import { announcedKey, eventKey } from './keys.ts'
import type { Decision, PendingItem } from './pending.ts'
import type { Remember } from './read-answer.ts'
import type { Pause } from '../core/pause.ts'
import type { StopReason } from './steps.ts'

/** The call that an event is about. */
export interface NamedCall {
  /** The call's id, unique in the model's answer. */
  callId: string
  /** The tool's name. */
  name: string
  /** Its name for people. */
  title?: string
}

/** What people see about a call beside its status. */
export interface ShownCall extends NamedCall {
  /** One line for people. */
  showTip?: string
  /** The arguments of the call, as far as they are known. */
  params?: Record<string, unknown>
}

/** A call that a model has asked for. */
export interface AskedCall extends NamedCall {
  /** The beginning of the arguments, as text. It may be broken JSON. */
  arguments: string
}

/** The place where a session goes on in a new generation. */
export interface GoneBack {
  /** The number of the new generation. The first generation of a session is 0, so this is at least 1. */
  generation: number
  /** The last record that stays. */
  seq: number
  /** The last turn that stays. */
  turn: number
}

/** The durable events, and what each type tells. */
export interface DurableEvents {
  /** A turn has begun with a user message. The message is record `seq`. */
  'turn.started': { turn: number; messageId: string; seq: number; text: string }
  /** The model cannot be asked now: its provider is away or busy. It is tried again `nextTryMs` after this, and so on. */
  'model.waiting': { turn: number; round: number; provider: string; why: string; nextTryMs: number }
  /** The model has answered with a text, with calls, or with both. The answer is record `seq`. */
  'message.completed': {
    turn: number
    round: number
    seq: number
    text: string
    calls: AskedCall[]
    usage: Usage
    /** The name of the model. */
    model: string
  }
  /**
   * Older messages no longer go into prompts: a summary stands for them. The records stay. `messages`: how many messages the
   * summary stands for, from the beginning. `seq`: the last record of them, in the session that owns it. `text`: the
   * beginning of the summary. `cut`: no model has written it, the messages are only left out. `why`: the prompt was `full`,
   * the provider has `refused` it, or a person has `asked`.
   */
  'transcript.compacted': {
    turn: number
    round?: number
    messages: number
    sessionId: string
    seq: number
    text: string
    cut: boolean
    why: 'full' | 'refused' | 'asked'
    model?: string
    usage?: Usage
  }
  /** The session has not taken a message, and never will. `messageId` is unset if it could not be read. */
  'message.rejected': { reason: string; preview: string; messageId?: string }
  /** A call has ended. Its result is record `seq`. */
  'tool.status': ShownCall & {
    status: 'SUCCESS' | 'ERROR'
    turn: number
    seq: number
    durationMs: number
    /** The result for people: what the tool has set, or else the beginning of the result for the model. */
    result: unknown
    code?: ToolErrorCode
    /** The tool's own name for its failure. */
    error?: { type?: string; code?: string }
    details?: unknown
  }
  /** The last update of one kind that a call sent. It is told once more when the call ends. */
  'tool.update': NamedCall & { update: unknown }
  /**
   * A call was permitted, denied, or must be asked about. `by`: a rule, the session's mode, a function of the agent
   * (`hook`), a person, or the time for an answer that has run out (`expired`). `touches`: what it would touch, as people
   * read it. `why`: what was said, or the skill that has brought the rule.
   */
  'permission.decided': NamedCall & {
    turn: number
    decision: 'allow' | 'ask' | 'deny'
    by: 'rule' | 'mode' | 'hook' | 'person' | 'expired'
    rule?: string
    mode?: string
    why?: string
    touches: string[]
  }
  /** A call waits for a person. */
  'pending.opened': PendingItem
  /**
   * The call no longer waits for a person. `by`: who has decided, a person or the time for an answer that has run out; unset
   * when the turn was stopped. `args`: those that it runs with, if the person has changed them.
   */
  'pending.closed': Omit<
    PendingItem,
    'round' | 'preview' | 'message' | 'form' | 'permit' | 'at' | 'expiresAt' | 'otherwise'
  > & {
    decision: Decision | 'cancelled'
    by?: 'person' | 'expired'
    args?: unknown
    remember?: Remember
  }
  /**
   * An answer has changed nothing. `id`: the item that it was for. `preview`: the beginning of an input that was no
   * answer at all.
   */
  'answer.rejected': { reason: string; id?: string; preview?: string }
  /** Nobody outside could be told that something waits for a person (`onPending`). `key`: of the notice. */
  'notice.failed': { key: string; why: string }
  /** A step is not run again, because its workers died too often while it ran. */
  'step.quarantined': {
    key: string
    kind: 'model' | 'tool' | 'child' | 'hook'
    name: string
    turn: number
    callId?: string
    deaths: number
  }
  /**
   * A worker has died while it had the step in hand, and another took the step over. `worker`: the boot id of the dead one.
   * `begunAt`: when it had begun, ISO 8601. Without `turn`: the step belongs to none.
   */
  'step.taken_over': {
    key: string
    kind: 'model' | 'tool' | 'child' | 'hook'
    name: string
    worker: string
    begunAt: string
    turn?: number
    round?: number
  }
  /** The session works in this folder from now on. `generation`: 1, or higher after a loss. */
  'workspace.acquired': { workspaceId: string; host: string; generation: number; turn: number }
  /** The working folder is gone together with its host. `generation`: the one that is lost. */
  'workspace.lost': { workspaceId: string; host?: string; generation: number; turn: number }
  /** A call (`turn`, `callId`) or a client has forked a child. `awaited`: the call waits for the child's answer. */
  'session.forked': {
    child: string
    label: string
    awaited: boolean
    profile?: string
    turn?: number
    callId?: string
  }
  /** Nothing new begins until the session is resumed. */
  'session.paused': Pause
  /** The session goes on after a pause. `tries`: it tries by itself, for that many times in a row. */
  'session.resumed': { tries?: number }
  /** A turn has ended. `text` is the beginning of its answer. */
  'turn.completed': { turn: number; stopReason: StopReason; text: string }
  /** The workflow was reset in Temporal. Everything after record `seq` no longer counts. */
  'session.rewound': GoneBack
  /** The workflow was started anew. The session goes on at the end of what the store holds. */
  'session.restarted': GoneBack
  /** The session has ended. */
  'session.closed': Record<string, never>
}

/** The live events, and what each type tells. */
export interface LiveEvents {
  /** A model has been asked. `model` is its name. */
  'model.started': { model: string; round: number }
  /** The next piece of the answer's text. */
  'message.delta': { text: string }
  /** The next piece of what the model thinks, where its provider shows that. It is no part of the answer. */
  'reasoning.delta': { text: string }
  /** The card of a call. `WAIT`: its arguments stream in. `DOING`: it runs. A new card replaces the one before. */
  'tool.status': ShownCall & { status: 'WAIT' | 'DOING'; result?: unknown }
  /** An update of a running call. It replaces the call's earlier update of the same kind. */
  'tool.update': NamedCall & { update: unknown }
}

/** A durable event. Its type says what `data` holds. */
export type DurableEvent = {
  [Type in keyof DurableEvents]: { type: Type; data: DurableEvents[Type] }
}[keyof DurableEvents]

/** A live event. Its type says what `data` holds. */
export type LiveEvent = { [Type in keyof LiveEvents]: { type: Type; data: LiveEvents[Type] } }[keyof LiveEvents]

/** The type of any event. */
export type EventType = (DurableEvent | LiveEvent)['type']

/** Says which attempt at which step a streamed piece belongs to. */
export interface Streamed {
  /** The step's key. */
  step: string
  /** The number of the attempt at the step. Pieces of a later attempt replace all pieces of an earlier one. */
  attempt: number
}

/** A live event as a watcher gets it. */
export type StreamedEvent = {
  [Type in keyof LiveEvents]: { type: Type; data: LiveEvents[Type] & Streamed }
}[keyof LiveEvents]

/** The fields of every event. */
export interface Watched {
  /** The session in which it happened. */
  sessionId: string
  /** When it happened, by the store's clock. */
  at: Date
  /** A later watch that begins at this cursor goes on after this event. */
  cursor: string
}

/**
 * An event as a watcher gets it. Its `type` says what `data` holds. `offset` is unset for live events.
 *
 * @example
 * for await (const event of session.watch()) {
 *   if (event.type === 'turn.completed') console.log(event.data.stopReason)
 * }
 */
export type StelloEvent = Watched & ((DurableEvent & { offset: number }) | (StreamedEvent & { offset?: never }))

/**
 * The place of an event in its session's history. A rewind of Temporal leaves a future behind. Only this place decides
 * whether the event belongs to that future; its key never does.
 */
export type EventPlace =
  /** The event belongs to a round of a turn. Without `round`: to the end of the turn. */
  | { turn: number; round?: number }
  /** The workflow tells the event by an announcement. This is the announcement's number. */
  | { told: number }
  /** Somebody else did it to the session, for example a client that forked it. No rewind undoes it. */
  | { apart: true }

/** A durable event on its way to the store. */
export type NewEvent = DurableEvent & {
  /**
   * Unique in its session and generation, so that an event that is written twice appears once. The key says nothing
   * else.
   */
  key: string
  at: EventPlace
}

/** The events that a workflow tells by itself, with an announcement. */
export type AnnouncedEvent = Extract<
  DurableEvent,
  { type: 'message.rejected' | 'answer.rejected' | 'session.paused' | 'session.resumed' | 'session.closed' }
>

/**
 * The only way to make a durable event, so every event says where it belongs.
 *
 * @param of what makes it different from all other events of its type in the session
 * @example
 * newEvent('turn.completed', { of: [3], at: { turn: 3 }, data: { turn: 3, stopReason: 'cancelled', text: '' } })
 */
export function newEvent<Type extends keyof DurableEvents>(
  type: Type,
  { of, at, data }: { of: readonly (string | number)[]; at: EventPlace; data: DurableEvents[Type] },
): Extract<NewEvent, { type: Type }> {
  return { key: eventKey(type, ...of), at, type, data } as Extract<NewEvent, { type: Type }>
}

/** The events of announcement number `told`. The event of a refused message can be found by the message's id. */
export function announcedEvents(told: number, events: readonly AnnouncedEvent[]): NewEvent[] {
  return events.map((event, index) => {
    const key = keyOfRejected(event) ?? announcedKey(told, index)
    return { ...event, key, at: { told } }
  })
}

function keyOfRejected(event: AnnouncedEvent): string | undefined {
  if (event.type !== 'message.rejected' || event.data.messageId === undefined) return undefined
  return rejectionKey(event.data.messageId)
}

/**
 * The key of the event that says why a message was refused. Code that asks what happened to the message finds the event
 * by it.
 */
export function rejectionKey(messageId: string): string {
  return eventKey('message.rejected', messageId)
}
