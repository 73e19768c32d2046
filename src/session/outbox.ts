/** Workflow-owned facts on their way to the store: pauses, rejections, turns that end outside a model call, the close. */
import { preview } from '../core/message.ts'
import type { AnnounceInput, Refusal, TurnEnding } from '../protocol/announcements.ts'
import type { AnnouncedEvent } from '../protocol/events.ts'
import { announcementKey } from '../protocol/keys.ts'
import type { Step } from './commands.ts'
import type { AnnounceTag } from './inputs.ts'
import {
  CHILDREN_AT_ONCE,
  REFUSALS_AT_ONCE,
  REFUSALS_CARRIED,
  SWITCHES_AT_ONCE,
  TELLS_AT_REST,
  placeOf,
  type SessionState,
} from './state.ts'
import type { Pause } from '../core/pause.ts'

interface Announcement {
  events?: AnnouncedEvent[]
  pause?: Pause | null
  endTurn?: TurnEnding
  closing?: true
  close?: NonNullable<AnnounceInput['close']>
  message?: { messageId: string; text: string }
  tag?: AnnounceTag
}

/** What `resuming` says while no announcement tells of the resume yet. */
const UNTOLD = 'untold'

/** Every announcement has a key of its own, so that a repeated activity appends nothing. */
export function announce(state: SessionState, { events = [], tag = 'none', ...facts }: Announcement): Step {
  const next = { ...state, announcements: state.announcements + 1 }
  const input: AnnounceInput = {
    sessionId: state.sessionId,
    key: announcementKey(next.announcements),
    gen: state.gen,
    turn: state.turns,
    base: state.turn?.base ?? state.seq,
    place: placeOf(state),
    told: next.announcements,
    events,
    ...facts,
  }
  return [next, [{ type: 'announce', tag, input }]]
}

/** Ends the session in the store, which answers with children that are open where it, or a cascade that reached it, cascades. */
export function announceClose(state: SessionState, close: NonNullable<AnnounceInput['close']>): Step {
  const events: AnnouncedEvent[] = close.after === undefined ? [{ type: 'session.closed', data: {} }] : []
  return announce(state, {
    tag: 'close',
    events,
    close: { ...close, limit: CHILDREN_AT_ONCE },
  })
}

/** Without its record or its agent a session cannot go on, whatever else holds it. */
function isStuck({ reason }: Pick<Pause, 'reason'>): boolean {
  return reason === 'store_error' || reason === 'agent_error'
}

/**
 * Pauses the session, if it is not paused already: the first reason stays, unless the session is stuck. A pause that
 * comes while a resume is being told wins over it.
 */
export function announcePause(state: SessionState, { message, hint, ...rest }: Pause): Step {
  const { pause: before, resuming, ...running } = state
  if (before && resuming === undefined && (isStuck(before) || !isStuck(rest))) return [state, []]
  const pause = { ...rest, message: preview(message), ...(hint !== undefined && { hint: preview(hint) }) }
  return tellSwitch({ ...running, pause })
}

/** Until the store knows, nothing starts: it would be found paused. */
export function announceResume(state: SessionState): Step {
  return tellSwitch({ ...state, resuming: UNTOLD })
}

/**
 * Tells of the pause or resume that holds now. Where many are on their way, and in a run that is to end and has told
 * enough, it waits: pauses that were lifted meanwhile are told to nobody.
 */
function tellSwitch(state: SessionState): Step {
  const { switchWaits: _waited, ...known } = state
  const { pause, resuming, switches = [] } = known
  if (switches.length >= SWITCHES_AT_ONCE || !mayTell(state)) return [{ ...known, switchWaits: true }, []]
  const facts: Announcement =
    resuming === undefined && pause
      ? { tag: 'pause', pause, events: [{ type: 'session.paused', data: { ...pause } }] }
      : { tag: 'resume', pause: null, events: [{ type: 'session.resumed', data: {} }] }
  const [told, commands] = announce(countAtRest(known), facts)
  const key = announcementKey(told.announcements)
  return [{ ...told, switches: [...switches, key], ...(resuming !== undefined && { resuming: key }) }, commands]
}

/** The store knows of that pause or resume. */
export function switchTold(state: SessionState, key: string): Step {
  const { switches = [], ...rest } = state
  if (!switches.includes(key)) return [state, []]
  const others = switches.filter((one) => one !== key)
  if (others.length > 0) return [{ ...rest, switches: others }, []]
  return rest.switchWaits ? tellSwitch(rest) : [rest, []]
}

/**
 * A message or an answer is not taken: people are told so, together with what is refused until the store has heard of
 * those before. Nothing else waits behind it.
 */
export function refuse(state: SessionState, refusal: Refusal): Step {
  const { refusals = [] } = state
  const last = refusals.at(-1) ?? []
  const batches =
    last.length < REFUSALS_AT_ONCE ? [...refusals.slice(0, -1), [...last, refusal]] : [...refusals, [refusal]]
  return tellRefusals({ ...state, refusals: batches })
}

/** The store knows of those refusals. */
export function refusalsTold(state: SessionState, key: string): Step {
  if (state.refusing !== key) return [state, []]
  const { refusing: _told, ...rest } = state
  return tellRefusals(rest)
}

/** A run that is to end tells no more than it must, so that its end comes. */
function tellRefusals(state: SessionState): Step {
  const { refusals: [batch, ...left] = [], ...rest } = state
  if (!batch || state.refusing !== undefined) return [state, []]
  if (!mayTell(state) && left.length === 0 && batch.length <= REFUSALS_CARRIED) return [state, []]
  const [told, commands] = announce(
    { ...countAtRest(rest), ...(left.length > 0 && { refusals: left }) },
    { tag: 'refused', events: batch.filter(isFirstOfItsMessage) },
  )
  return [{ ...told, refusing: announcementKey(told.announcements) }, commands]
}

function isFirstOfItsMessage(refusal: Refusal, i: number, all: Refusal[]): boolean {
  const id = messageOf(refusal)
  return id === undefined || all.findIndex((one) => messageOf(one) === id) === i
}

function messageOf({ type, data }: Refusal): string | undefined {
  return type === 'message.rejected' ? data.messageId : undefined
}

/** Another run begins: nothing is on its way, and what the one before held back is told. */
export function tellHeldBack(state: SessionState): Step {
  const { switches: _switches, refusing: _refusing, toldAtRest: _told, ...anew } = state
  const [told, commands] = anew.switchWaits ? tellSwitch(anew) : [anew, []]
  const [next, more] = tellRefusals(told)
  return [next, [...commands, ...more]]
}

function mayTell({ resting, toldAtRest = 0 }: SessionState): boolean {
  return !resting || toldAtRest < TELLS_AT_REST
}

function countAtRest(state: SessionState): SessionState {
  return state.resting ? { ...state, toldAtRest: (state.toldAtRest ?? 0) + 1 } : state
}

/**
 * A step found the store paused. If the session is not, the store has lost the resume (a replica was promoted, a copy
 * put in its place) or the step took long to say so: the resume is told once more, else the step would be tried in vain.
 */
export function foundPaused(state: SessionState): Step {
  return state.pause || state.resuming || state.turn?.stopping ? [state, []] : announceResume(state)
}
