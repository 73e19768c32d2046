/**
 * What watchers see of sessions. Durable events are certain: they are committed with what they tell of, and each has an
 * offset. Live ones may be lost, and have none. Data is JSON, and bounded: texts are cut where they are told.
 */
import type { ToolErrorCode } from '../core/errors.ts'
import type { Usage } from '../core/message.ts'
import { announcedKey, eventKey } from './keys.ts'
import type { Decision, PendingItem } from './pending.ts'
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

/** What people see of a call beside its status. */
export interface ShownCall extends NamedCall {
  /** One line for people. */
  showTip?: string
  /** What the tool is called with, as far as it is known. */
  params?: Record<string, unknown>
}

/** A call that a model has asked for. */
export interface AskedCall extends NamedCall {
  /** The beginning of the arguments: text, which may be broken JSON. */
  arguments: string
}

/** Where a session goes on in a new generation. */
export interface GoneBack {
  /** Counts the generations, from 1: what was written before is 0. */
  generation: number
  /** The last record that stays. */
  seq: number
  /** The last turn that stays. */
  turn: number
}

/** The durable events: what each type tells. */
export interface DurableEvents {
  /** A turn has begun with a message of the user, which is record `seq`. */
  'turn.started': { turn: number; messageId: string; seq: number; text: string }
  /** The model has answered with record `seq`: with a text, with calls, or with both. */
  'message.completed': {
    turn: number
    round: number
    seq: number
    text: string
    calls: AskedCall[]
    usage: Usage
    /** Which model has answered. */
    model: string
  }
  /** The session has not taken a message, and never will. `messageId`: unset where none could be read. */
  'message.rejected': { reason: string; preview: string; messageId?: string }
  /** A call has ended; its result is record `seq`. */
  'tool.status': ShownCall & {
    status: 'SUCCESS' | 'ERROR'
    turn: number
    seq: number
    durationMs: number
    /** For people: what the tool has set, else the beginning of what the model reads. */
    result: unknown
    code?: ToolErrorCode
    /** What the tool calls its failure. */
    error?: { type?: string; code?: string }
    details?: unknown
  }
  /** What a call told last of a kind, told once more with its end. */
  'tool.update': NamedCall & { update: unknown }
  /** A call waits for a person. */
  'pending.opened': PendingItem
  /** It waits no longer. */
  'pending.closed': Omit<PendingItem, 'round' | 'preview' | 'message' | 'at'> & { decision: Decision | 'cancelled' }
  /** An answer to a pending item has changed nothing. `id`: of the item; `preview`: of what was no answer at all. */
  'answer.rejected': { reason: string; id?: string; preview?: string }
  /** A step is not run again: its workers have died too often while it ran. */
  'step.quarantined': {
    key: string
    kind: 'model' | 'tool' | 'child' | 'hook'
    name: string
    turn: number
    callId?: string
    deaths: number
  }
  /** A child has been forked: by a call (`turn`, `callId`), or by a client. `awaited`: the call waits for its answer. */
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
  /** It goes on. */
  'session.resumed': Record<string, never>
  /** A turn has ended; `text` is the beginning of its answer. */
  'turn.completed': { turn: number; stopReason: StopReason; text: string }
  /** Temporal was reset: what came behind `seq` in this session no longer counts. */
  'session.rewound': GoneBack
  /** The workflow was started anew: the session goes on where the store ends. */
  'session.restarted': GoneBack
  /** The session has ended. */
  'session.closed': Record<string, never>
}

/** The live events: what each type tells. */
export interface LiveEvents {
  /** The model of that name has been asked. */
  'model.started': { model: string; round: number }
  /** The next piece of the answer's text. */
  'message.delta': { text: string }
  /** The card of a call: its arguments stream in (`WAIT`), or it runs (`DOING`). Replaces the card before. */
  'tool.status': ShownCall & { status: 'WAIT' | 'DOING'; result?: unknown }
  /** What a call tells while it runs. Replaces what it told before of the same kind. */
  'tool.update': NamedCall & { update: unknown }
}

/** A durable event: its type says what `data` holds. */
export type DurableEvent = {
  [Type in keyof DurableEvents]: { type: Type; data: DurableEvents[Type] }
}[keyof DurableEvents]

/** A live event: its type says what `data` holds. */
export type LiveEvent = { [Type in keyof LiveEvents]: { type: Type; data: LiveEvents[Type] } }[keyof LiveEvents]

/** The type of any event. */
export type EventType = (DurableEvent | LiveEvent)['type']

/** What of a step's work streams, in pieces. */
export interface Streamed {
  /** The step's key. */
  step: string
  /** Counts the attempts at the step: what a later one streams replaces all that an earlier one has. */
  attempt: number
}

/** A live event as a watcher gets it. */
export type StreamedEvent = {
  [Type in keyof LiveEvents]: { type: Type; data: LiveEvents[Type] & Streamed }
}[keyof LiveEvents]

/** What every event says. */
export interface Watched {
  /** The session it happened in. */
  sessionId: string
  /** When, by the store's clock. */
  at: Date
  /** Where a later watch goes on behind this event. */
  cursor: string
}

/**
 * An event as a watcher gets it. Its `type` says what `data` holds; `offset` is unset for what streams.
 *
 * @example
 * for await (const event of session.watch()) {
 *   if (event.type === 'turn.completed') console.log(event.data.stopReason)
 * }
 */
export type StelloEvent = Watched & ((DurableEvent & { offset: number }) | (StreamedEvent & { offset?: never }))

/**
 * Where an event stands in its session's history. This alone decides whether it belongs to a future that a rewind of
 * Temporal leaves behind, never its key.
 */
export type EventPlace =
  /** What a round of a turn does; without `round`: the end of the turn. */
  | { turn: number; round?: number }
  /** What the workflow tells of its own; so many announcements it had made with this one. */
  | { told: number }
  /** What somebody else does to the session, such as a client's fork: no rewind undoes it. */
  | { apart: true }

/** A durable event on its way to the store. */
export type NewEvent = DurableEvent & {
  /** Unique in its session and generation: what is written again is written once. It says nothing else. */
  key: string
  at: EventPlace
}

/** What a workflow tells of its own, by an announcement. */
export type AnnouncedEvent = Extract<
  DurableEvent,
  { type: 'message.rejected' | 'answer.rejected' | 'session.paused' | 'session.resumed' | 'session.closed' }
>

/**
 * The only way to make a durable event: nothing can be told without saying where it belongs.
 *
 * @param of what tells it from all events of its type in the session
 * @example newEvent('turn.completed', { of: [3], at: { turn: 3 }, data: { turn: 3, stopReason: 'cancelled', text: '' } })
 */
export function newEvent<Type extends keyof DurableEvents>(
  type: Type,
  { of, at, data }: { of: readonly (string | number)[]; at: EventPlace; data: DurableEvents[Type] },
): Extract<NewEvent, { type: Type }> {
  return { key: eventKey(type, ...of), at, type, data } as Extract<NewEvent, { type: Type }>
}

/** What announcement number `told` tells. A refused message is found by its id. */
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

/** Of the event that says why a message was refused: whoever asks what became of the message finds it by this. */
export function rejectionKey(messageId: string): string {
  return eventKey('message.rejected', messageId)
}
