/**
 * Facts that the workflow owns, on their way to the store: pauses, rejections, turns that end outside a model call, the
 * close.
 */
import { preview } from '../core/message.ts'
import type { AnnounceInput, Refusal, TurnEnding } from '../protocol/announcements.ts'
import type { AnnouncedEvent } from '../protocol/events.ts'
import { announcementKey } from '../protocol/keys.ts'
import type { Command, Step } from './commands.ts'
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
  closing?: NonNullable<AnnounceInput['closing']>
  close?: NonNullable<AnnounceInput['close']>
  message?: { messageId: string; text: string }
  tag?: AnnounceTag
}

/** The value of `resuming` while no announcement tells the store about the resume yet. */
const UNTOLD = 'untold'

/** Each announcement has a key of its own, so a repeated activity appends nothing. */
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

/**
 * Ends the session in the store. The store answers with open children if the close cascades, or if a cascade has
 * reached the session.
 */
export function announceClose(state: SessionState, close: NonNullable<AnnounceInput['close']>): Step {
  const events: AnnouncedEvent[] = close.after === undefined ? [{ type: 'session.closed', data: {} }] : []
  return announce(state, {
    tag: 'close',
    events,
    close: { ...close, limit: CHILDREN_AT_ONCE },
  })
}

/**
 * A session cannot go on without its agent or its record, even if other reasons for the pause are gone. Without its
 * record it cannot even be stopped.
 */
function howStuck({ reason }: Pick<Pause, 'reason'>): number {
  return reason === 'store_error' ? 2 : reason === 'agent_error' ? 1 : 0
}

/**
 * Pauses the session unless it is paused already. The first reason stays, with two exceptions. A reason that leaves the
 * session more stuck replaces another one. A pause that only a resume can end replaces one that ends by itself, and what
 * replaces it needs a resume too. A pause that comes while a resume is being told wins over the resume.
 */
export function announcePause(state: SessionState, { message, hint, ...rest }: Pause): Step {
  const { pause: before, resuming, ...running } = state
  if (before && resuming === undefined && !givesWay(before, rest)) return [state, []]
  const { tries: _over, ...forGood } = running
  const { nextTryAt: _promised, ...lasting } = rest
  const holds = before && resuming === undefined && before.nextTryAt === undefined && !state.older
  const pause: Pause = {
    ...(holds ? lasting : rest),
    message: preview(message),
    ...(hint !== undefined && { hint: preview(hint) }),
  }
  const [told, commands] = tellSwitch({ ...(pause.nextTryAt === undefined ? forGood : running), pause })
  return [told, [...commands, ...nextTry(told)]]
}

function givesWay(before: Pause, next: Pick<Pause, 'reason' | 'nextTryAt'>): boolean {
  if (before.nextTryAt !== undefined) return next.nextTryAt === undefined
  return howStuck(next) > howStuck(before)
}

/** The try that the session's pause has promised. A new run promises it anew. */
export function nextTry({ pause }: SessionState): Command[] {
  return pause?.nextTryAt === undefined ? [] : [{ type: 'tryAgain', at: pause.nextTryAt }]
}

/** Nothing starts until the store knows about the resume: a step would find the session paused there. */
export function announceResume(state: SessionState): Step {
  return tellSwitch({ ...state, resuming: UNTOLD })
}

/**
 * Tells the store about the pause or resume that holds now. This waits if many others are on their way, or if the run
 * will end soon and has told enough. A pause that is lifted during the wait is never told.
 */
function tellSwitch(state: SessionState): Step {
  const { switchWaits: _waited, ...known } = state
  const { pause, resuming, tries, switches = [] } = known
  if (switches.length >= SWITCHES_AT_ONCE || !mayTell(state)) return [{ ...known, switchWaits: true }, []]
  const facts: Announcement =
    resuming === undefined && pause
      ? { tag: 'pause', pause, events: [{ type: 'session.paused', data: { ...pause } }] }
      : {
          tag: 'resume',
          pause: null,
          events: [{ type: 'session.resumed', data: { ...(tries !== undefined && { tries }) } }],
        }
  const [told, commands] = announce(countAtRest(known), facts)
  const key = announcementKey(told.announcements)
  return [{ ...told, switches: [...switches, key], ...(resuming !== undefined && { resuming: key }) }, commands]
}

/** The store knows about that pause or resume. */
export function switchTold(state: SessionState, key: string): Step {
  const { switches = [], ...rest } = state
  if (!switches.includes(key)) return [state, []]
  const others = switches.filter((one) => one !== key)
  if (others.length > 0) return [{ ...rest, switches: others }, []]
  return rest.switchWaits ? tellSwitch(rest) : [rest, []]
}

/**
 * A message or an answer is not taken, and people are told. Refusals gather in batches while the store is told about
 * earlier ones. Nothing else waits for a refusal.
 */
export function refuse(state: SessionState, refusal: Refusal): Step {
  const { refusals = [] } = state
  const last = refusals.at(-1) ?? []
  const batches =
    last.length < REFUSALS_AT_ONCE ? [...refusals.slice(0, -1), [...last, refusal]] : [...refusals, [refusal]]
  return tellRefusals({ ...state, refusals: batches })
}

/** The store knows about those refusals. */
export function refusalsTold(state: SessionState, key: string): Step {
  if (state.refusing !== key) return [state, []]
  const { refusing: _told, ...rest } = state
  return tellRefusals(rest)
}

/** A run that will end soon tells only what it must, so that it can end. */
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

/** A new run begins: nothing is on its way yet. It tells what the run before held back. */
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
 * A step found the session paused in the store. If the session is not paused here, the store has lost the resume (a
 * replica was promoted, or a copy replaced the store), or the step's news is old. So the resume is told once more.
 * Otherwise every try of the step would find the pause again.
 */
export function foundPaused(state: SessionState): Step {
  return state.pause || state.resuming || state.turn?.stopping ? [state, []] : announceResume(state)
}
