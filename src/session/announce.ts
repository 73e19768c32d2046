/** Workflow-owned facts on their way to the store: pauses, rejections, turns that end outside a model call, the close. */
import { preview } from '../agent/message.ts'
import type { AnnounceInput, TurnEnding } from './announcements.ts'
import type { Step } from './commands.ts'
import type { AnnounceTag } from './events.ts'
import { CHILDREN_AT_ONCE, placeOf, type SessionState } from './state.ts'
import type { Pause } from './steps.ts'

interface Announcement {
  /** `key`: instead of one of the announcement's, for an event that is looked up by it. */
  events?: { key?: string; type: string; data: Record<string, unknown> }[]
  pause?: Pause | null
  endTurn?: TurnEnding
  closing?: true
  close?: NonNullable<AnnounceInput['close']>
  message?: { messageId: string; text: string }
  tag?: AnnounceTag
}

/** Every announcement has a key of its own, so that a repeated activity appends nothing. */
export function announce(state: SessionState, { events = [], tag = 'none', ...facts }: Announcement): Step {
  const next = { ...state, announcements: state.announcements + 1 }
  const key = lastAnnouncement(next)
  const input: AnnounceInput = {
    sessionId: state.sessionId,
    key,
    gen: state.gen,
    turn: state.turns,
    base: state.turn?.base ?? state.seq,
    place: placeOf(state),
    told: next.announcements,
    events: events.map((event, i) => ({ key: `${key}.${i}`, ...event })),
    ...facts,
  }
  return [next, [{ type: 'announce', tag, input }]]
}

/** Ends the session in the store, which answers with children that are open where it, or a cascade that reached it, cascades. */
export function announceClose(state: SessionState, close: NonNullable<AnnounceInput['close']>): Step {
  const events = close.after === undefined ? [{ type: 'session.closed', data: {} }] : []
  return announce(state, {
    tag: 'close',
    events,
    close: { ...close, limit: CHILDREN_AT_ONCE },
  })
}

/** The key of the announcement made last. */
export function lastAnnouncement(state: SessionState): string {
  return `a${state.announcements}`
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
  return announce({ ...running, pause }, { pause, events: [{ type: 'session.paused', data: { ...pause } }] })
}

/** Until the store knows, nothing starts: it would be found paused. */
export function announceResume(state: SessionState): Step {
  const [told, commands] = announce(state, {
    tag: 'resume',
    pause: null,
    events: [{ type: 'session.resumed', data: {} }],
  })
  return [{ ...told, resuming: lastAnnouncement(told) }, commands]
}

/**
 * A step found the store paused. If the session is not, the store has lost the resume (a replica was promoted, a copy
 * put in its place) or the step took long to say so: the resume is told once more, else the step would be tried in vain.
 */
export function foundPaused(state: SessionState): Step {
  return state.pause || state.resuming || state.turn?.stopping ? [state, []] : announceResume(state)
}
