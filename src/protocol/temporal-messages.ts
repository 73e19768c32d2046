/** How others talk to a session workflow: signals, updates and queries. Also reads the messages that they send. */
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common'
import { UNSTORABLE, jsonBytes } from '../core/message.ts'
import type { AgentReport, ChildReport, Opening, WeatherReport } from './steps.ts'
import type { Answer } from './read-answer.ts'
import type { PendingView, SessionView, ToolStatsView, Totals } from './views.ts'
import { INLINE_TEXT_LIMIT } from './limits.ts'

/** Longest message id, in bytes inside JSON. */
export const MESSAGE_ID_LIMIT = 128
/** Longest message, in UTF-16 units. */
export const MESSAGE_TEXT_LIMIT: number = 1024 * 1024

/** The text of a signal goes on into an activity's input. Temporal's server limits the whole input to 2 MiB. */
const SIGNAL_BYTES_LIMIT = 1.5 * 1024 * 1024

/** Without `text`, the body is in the store. A plain string is a text. */
export type MessageInput = string | { messageId: string; text?: string }

/** An answer to a call that waits for permission, without its decision. */
export type PermissionInput = string | Omit<Answer, 'decision'>

/** Without `messageId`, somebody sent a plain text. */
export type ReadMessage = Partial<Opening>

export const messageSignal: SignalDefinition<[MessageInput]> = signal('message')
export const pauseSignal: SignalDefinition<[string?]> = signal('pause')
export const resumeSignal: SignalDefinition = signal('resume')
export const cancelTurnSignal: SignalDefinition = signal('cancelTurn')
export const closeSignal: SignalDefinition<[{ cascade?: boolean }?]> = signal('close')
export const compactSignal: SignalDefinition = signal('compact')
export const answerSignal: SignalDefinition<[Answer]> = signal('answer')
/** `answer` with the decision `approve`. A text is the id. */
export const approveSignal: SignalDefinition<[PermissionInput]> = signal('approve')
/** `answer` with the decision `deny`. A text is the id. */
export const denySignal: SignalDefinition<[PermissionInput]> = signal('deny')
/** From a child workflow to the one that awaits it. */
export const childReportSignal: SignalDefinition<[ChildReport]> = signal('childReport')
/** From an agent to the session that has spawned it. */
export const agentReportSignal: SignalDefinition<[AgentReport]> = signal('agentReport')
/** From a model call that waits for its provider, once in an outage. */
export const weatherSignal: SignalDefinition<[WeatherReport]> = signal('weather')

export const messageUpdate: UpdateDefinition<{ position: number }, [MessageInput]> = update('message')
export const pauseUpdate: UpdateDefinition<void, [string?]> = update('pause')
export const resumeUpdate: UpdateDefinition<void, []> = update('resume')
export const cancelTurnUpdate: UpdateDefinition<void, []> = update('cancelTurn')
export const closeUpdate: UpdateDefinition<void, [{ cascade?: boolean }?]> = update('close')
export const compactUpdate: UpdateDefinition<void, []> = update('compact')
export const answerUpdate: UpdateDefinition<void, [Answer]> = update('answer')
export const approveUpdate: UpdateDefinition<void, [PermissionInput]> = update('approve')
export const denyUpdate: UpdateDefinition<void, [PermissionInput]> = update('deny')

export const stateQuery: QueryDefinition<SessionView> = query('state')
export const statsQuery: QueryDefinition<{ totals: Totals; tools: ToolStatsView[] }> = query('stats')
export const pendingQuery: QueryDefinition<PendingView[]> = query('pending')

/** Reads a message, in the same way on both sides. @returns a string says what is wrong with the message */
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

/** Reads what an agent reports, in the same way on both sides. @returns undefined: it is no such report */
export function readAgentReport(input: unknown): AgentReport | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const { childId, childGen, childTurn, message } = input as Partial<Record<string, unknown>>
  if (typeof childId !== 'string' || !/^[\w.-]{1,100}$/.test(childId)) return undefined
  if (!Number.isSafeInteger(childGen) || !Number.isSafeInteger(childTurn)) return undefined
  const told = { childId, childGen: childGen as number, childTurn: childTurn as number }
  return { ...told, ...(typeof message === 'string' && message.trim() !== '' && { message }) }
}

function problemOf(text: string): string | undefined {
  if (text.trim() === '') return 'the message is empty'
  if (text.length > MESSAGE_TEXT_LIMIT) return `the message is longer than ${MESSAGE_TEXT_LIMIT} characters`
  if (text.length <= INLINE_TEXT_LIMIT) return undefined
  if (jsonBytes(text) <= SIGNAL_BYTES_LIMIT) return undefined
  return `the message is longer than ${SIGNAL_BYTES_LIMIT} bytes: put its text into the store first, as \`stello send\` does`
}

// The same as Temporal's `defineSignal` and its like return. This folder must not load Temporal's code.
function signal<Args extends unknown[]>(name: string): SignalDefinition<Args> {
  return { type: 'signal', name } as SignalDefinition<Args>
}

function update<Answered, Args extends unknown[]>(name: string): UpdateDefinition<Answered, Args> {
  return { type: 'update', name } as UpdateDefinition<Answered, Args>
}

function query<Answered>(name: string): QueryDefinition<Answered> {
  return { type: 'query', name } as QueryDefinition<Answered>
}
