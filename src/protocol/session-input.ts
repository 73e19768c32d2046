/** What a session workflow begins with, and what Temporal is told about it. */
import { brief, preview } from '../core/message.ts'
import type { Opening } from './steps.ts'

export const SESSION_WORKFLOW = 'session'

/** A kill inside a workflow task costs this much until another worker may take it. */
export const WORKFLOW_TASK_TIMEOUT = '5 seconds'

/** Bytes of a label: Temporal's UI cuts summaries at this length. */
export const LABEL_SHOWN = 120

/** Values of search attributes and memo are cut to this many characters. */
const VALUE_LIMIT = 200

/** The call in the parent that waits for this session's first answer. */
export interface Awaited {
  parentId: string
  callKey: string
}

/** Whom an agent tells that it has ended a turn. */
export interface Tells {
  parentId: string
  /** A parent that does not wait gets a message. */
  notifies?: true
}

export interface NewSession {
  sessionId: string
  label: string
  awaited?: Awaited
  tells?: Tells
  /** Messages to begin with, as many as there are; their texts are in the store. */
  messages?: string[]
  /** The turn of the first message is to stop: the workflow that was lost had been told so. */
  stops?: true
  /** The session is to pause: the workflow that was lost had been told so. */
  pauses?: { message?: string }
  /** The session is to close: the workflow that was lost had been told so. */
  closes?: { cascade: boolean }
}

/** What others than the session read in the state that a run hands on: what it had been given, and `fresh`. */
export interface CarriedState {
  fresh?: true
  turn?: { opening: Opening; stopping?: string }
  queue: Opening[]
  cancelNext?: true
  closing?: { cascade: boolean }
}

export interface SessionInput<State extends CarriedState = CarriedState> {
  session: NewSession
  agent: string
  rootId: string
  parentId?: string
  profile?: string
  /** Whether the Stello search attributes may be used; fixed at the start and inherited. */
  searchable: boolean
  /** Identity of the store that holds the session, passed on to forks; unset where nothing is to be checked. */
  store?: string
  /** Set after continue-as-new. */
  state?: State
}

export function memoOf(input: SessionInput): Record<string, unknown> {
  const { session, agent, profile, parentId, store } = input
  return {
    title: shownValue(session.label),
    agent,
    ...(profile && { profile: shownValue(profile) }),
    ...(parentId && { parent: parentId }),
    ...(store !== undefined && { store }),
  }
}

/** One line of the UI: what Temporal is told a session is. */
export function summaryOf({ session }: SessionInput): string {
  return brief(session.label, LABEL_SHOWN)
}

export function shownValue(text: string): string {
  return preview(text, VALUE_LIMIT)
}
