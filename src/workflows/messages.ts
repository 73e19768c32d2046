/** How the world talks to a session workflow: its input, what it is found by, signals, updates, queries. The only file of this folder a client imports. */
import {
  SearchAttributeType,
  defineSearchAttributeKey,
  type QueryDefinition,
  type SearchAttributePair,
  type SignalDefinition,
  type UpdateDefinition,
} from '@temporalio/common'
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow'
import { UNSTORABLE, brief, jsonBytes, preview } from '../agent/message.ts'
import {
  INLINE_TEXT_LIMIT,
  LABEL_SHOWN,
  type ToolStats,
  type Totals,
  type NewSession,
  type SessionState,
  type Status,
} from '../session/state.ts'
import type { Answer, ChildReport, Opening, Pause, PendingRef, StopReason } from '../session/steps.ts'

export { readAnswer, wrongWord } from '../session/pending.ts'
export { INLINE_TEXT_LIMIT } from '../session/state.ts'

export const SESSION_WORKFLOW = 'session'
/** Longest message id, in bytes inside JSON. */
export const MESSAGE_ID_LIMIT = 128
/** Longest message, in UTF-16 units. */
export const MESSAGE_TEXT_LIMIT: number = 1024 * 1024

/** A text that came by a signal goes on into an activity, whose input the server limits to 2 MiB with all around it. */
const SIGNAL_BYTES_LIMIT = 1.5 * 1024 * 1024

/** A kill inside a workflow task costs this much until another worker may take it. */
export const WORKFLOW_TASK_TIMEOUT = '5 seconds'

export interface SessionInput {
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
  state?: SessionState
}

/** Without `text` the body is in the store. A bare string is taken as a text. */
export type MessageInput = string | { messageId: string; text?: string }

/** Without `messageId`: a text that somebody sent as it is. */
export type ReadMessage = Partial<Opening>

/** `title`: the tool's name for people. */
type CallView = { name: string; title?: string; preview: string; status: string }

export interface SessionView {
  sessionId: string
  label: string
  status: Status
  pause?: Pause
  turn?: { n: number; round: number; phase: string; calls: CallView[] }
  queued: number
  turns: number
  records: number
  totals: Totals
  lastAnswer: string
  lastStop?: StopReason
}

/** A call that waits for a person; the store holds the whole item. */
export interface PendingView extends PendingRef {
  turn: number
  /** The tool's name. */
  name: string
  /** Its name for people. */
  title?: string
  callId: string
  /** The beginning of the call's arguments. */
  preview: string
}

export type ToolStatsView = ToolStats & { averageDuration: number }

export const messageSignal: SignalDefinition<[MessageInput]> = defineSignal('message')
export const pauseSignal: SignalDefinition<[string?]> = defineSignal('pause')
export const resumeSignal: SignalDefinition = defineSignal('resume')
export const cancelTurnSignal: SignalDefinition = defineSignal('cancelTurn')
export const closeSignal: SignalDefinition<[{ cascade?: boolean }?]> = defineSignal('close')
export const answerSignal: SignalDefinition<[Answer]> = defineSignal('answer')
/** From a child workflow to the one that awaits it. */
export const childReportSignal: SignalDefinition<[ChildReport]> = defineSignal('childReport')

export const messageUpdate: UpdateDefinition<{ position: number }, [MessageInput]> = defineUpdate('message')
export const pauseUpdate: UpdateDefinition<void, [string?]> = defineUpdate('pause')
export const resumeUpdate: UpdateDefinition<void, []> = defineUpdate('resume')
export const cancelTurnUpdate: UpdateDefinition<void, []> = defineUpdate('cancelTurn')
export const closeUpdate: UpdateDefinition<void, [{ cascade?: boolean }?]> = defineUpdate('close')
export const answerUpdate: UpdateDefinition<void, [Answer]> = defineUpdate('answer')

export const stateQuery: QueryDefinition<SessionView> = defineQuery('state')
export const statsQuery: QueryDefinition<{ totals: Totals; tools: ToolStatsView[] }> = defineQuery('stats')
export const pendingQuery: QueryDefinition<PendingView[]> = defineQuery('pending')

/** Values of search attributes and memo are cut to this many characters. */
const VALUE_LIMIT = 200

const ROOT = defineSearchAttributeKey('StelloRoot', SearchAttributeType.KEYWORD)
const PARENT = defineSearchAttributeKey('StelloParent', SearchAttributeType.KEYWORD)
export const STATE: ReturnType<typeof defineSearchAttributeKey<'KEYWORD'>> = defineSearchAttributeKey(
  'StelloState',
  SearchAttributeType.KEYWORD,
)
const PROFILE = defineSearchAttributeKey('StelloProfile', SearchAttributeType.KEYWORD)
const LABEL = defineSearchAttributeKey('StelloLabel', SearchAttributeType.KEYWORD)

/** The names the worker registers. */
export const SEARCH_ATTRIBUTES: readonly string[] = [ROOT, PARENT, STATE, PROFILE, LABEL].map((key) => key.name)

export function attributesOf(input: SessionInput): SearchAttributePair[] {
  return [
    { key: ROOT, value: value(input.rootId) },
    { key: STATE, value: 'active' },
    { key: LABEL, value: value(input.session.label) },
    ...(input.parentId === undefined ? [] : [{ key: PARENT, value: value(input.parentId) }]),
    ...(input.profile === undefined ? [] : [{ key: PROFILE, value: value(input.profile) }]),
  ]
}

export function memoOf(input: SessionInput): Record<string, unknown> {
  const { session, agent, profile, parentId, store } = input
  return {
    title: value(session.label),
    agent,
    ...(profile && { profile: value(profile) }),
    ...(parentId && { parent: parentId }),
    ...(store !== undefined && { store }),
  }
}

/** One line of the UI: what Temporal is told a session is. */
export function summaryOf({ session }: SessionInput): string {
  return brief(session.label, LABEL_SHOWN)
}

function value(text: string): string {
  return preview(text, VALUE_LIMIT)
}

/** Reads what somebody sent as a message, the same on both sides; a text says what is wrong with it. */
export function readMessage(input: unknown): ReadMessage | string {
  if (typeof input === 'string') return problemOf(input) ?? { text: input }
  if (typeof input !== 'object' || input === null) return 'a message is a text or an object with messageId and text'
  const { messageId, text } = input as Partial<Record<string, unknown>>
  if (typeof messageId !== 'string' || messageId === '') return 'messageId is missing'
  if (jsonBytes(messageId) > MESSAGE_ID_LIMIT) return `messageId is longer than ${MESSAGE_ID_LIMIT} bytes`
  if (UNSTORABLE.test(messageId)) return 'messageId holds NUL or half a character'
  if (text === undefined) return { messageId }
  if (typeof text !== 'string') return 'text is not a string'
  return problemOf(text) ?? { messageId, text }
}

function problemOf(text: string): string | undefined {
  if (text.trim() === '') return 'the message is empty'
  if (text.length > MESSAGE_TEXT_LIMIT) return `the message is longer than ${MESSAGE_TEXT_LIMIT} characters`
  if (text.length <= INLINE_TEXT_LIMIT) return undefined
  if (jsonBytes(text) <= SIGNAL_BYTES_LIMIT) return undefined
  return `the message is longer than ${SIGNAL_BYTES_LIMIT} bytes: put its text into the store first, as \`stello send\` does`
}
