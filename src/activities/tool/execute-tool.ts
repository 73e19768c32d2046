/** Runs a tool's code under its time-out, with the context that is its view of the session. */
import { StelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { aboutSession, type AboutSession } from '../session/about-session.ts'
import { bounded, type Bounds } from '../step/bounded.ts'
import type { StoredSession } from '../session/session-configs.ts'
import type { ToolChannel } from './tool-channel.ts'

export interface Execution extends StoredSession {
  sessionId: string
  messageId: string
  idempotencyKey: string
  timeoutMs: number
  /** The user's cancel or the worker's shutdown. */
  stop: AbortSignal
  /** Up to and with the call. */
  messages: readonly Message[]
  channel: ToolChannel
}

/** @throws StelloError TOOL_TIMEOUT, TOOL_CANCELLED; whatever the work throws */
export function executeTool<T>(name: string, execution: Execution, work: (ctx: ToolContext) => Promise<T>): Promise<T> {
  const { timeoutMs, stop } = execution
  const bounds: Bounds = {
    timeoutMs,
    stop,
    timedOut: () => new StelloError('TOOL_TIMEOUT', `tool "${name}" did not end within ${timeoutMs / 1000} s`),
    stopped: () => new StelloError('TOOL_CANCELLED', `tool "${name}" was cancelled`),
  }
  return bounded(bounds, (signal) => work({ ...toContext(execution), signal }))
}

function toContext({ messages, channel, idempotencyKey, ...of }: Execution): Omit<ToolContext, 'signal'> {
  return { ...channel.context, ...aboutTurn(of), idempotencyKey, contextSnapshot: { messages } }
}

/** What a tool may know before its call is complete. */
export type TurnContext = AboutSession & Pick<ToolContext, 'messageId' | 'bladeConfig'>

export function aboutTurn(of: StoredSession & Pick<Execution, 'sessionId' | 'messageId'>): TurnContext {
  const { sessionId, messageId, config } = of
  return { ...aboutSession(sessionId, of), messageId, bladeConfig: { ...config } }
}
