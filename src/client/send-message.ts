/** Sends a message to a session. A long text goes to the store first, and the signal names it. */
import { randomUUID } from 'node:crypto'
import { StelloError } from '../core/errors.ts'
import { UNSTORABLE, jsonBytes } from '../core/message.ts'
import { INLINE_TEXT_LIMIT } from '../protocol/limits.ts'
import { MESSAGE_ID_LIMIT, MESSAGE_TEXT_LIMIT, messageSignal } from '../protocol/temporal-messages.ts'
import { putMessage } from '../store/transcript/message-bodies.ts'
import { mustBeOpen, reachSession } from './reach-session.ts'
import type { ClientDeps } from './client-deps.ts'
import { refuseRejected } from './turn-handle.ts'

/** @returns the id of the message */
export async function sendMessage(
  deps: ClientDeps,
  sessionId: string,
  message: { text: string; messageId?: string },
): Promise<string> {
  const { text, messageId = randomUUID() } = message
  checkMessage(text, messageId)
  await mustBeOpen(deps, sessionId)
  if (message.messageId !== undefined) await refuseRejected(deps.db, sessionId, messageId)
  const big = jsonBytes(text) > INLINE_TEXT_LIMIT
  if (big) await putMessage(deps.db, sessionId, { messageId, text })
  const workflow = deps.client.workflow.getHandle(sessionId)
  await reachSession(deps, sessionId, () => workflow.signal(messageSignal, big ? { messageId } : { messageId, text }))
  return messageId
}

function checkMessage(text: string, messageId: string): void {
  const problem = textProblem(text) ?? idProblem(messageId)
  if (problem === undefined) return
  throw new StelloError('INVALID_MESSAGE', problem, {
    hint: 'put long material into a file or a tool the agent can read',
  })
}

function textProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return 'the message is empty'
  if (text.length <= MESSAGE_TEXT_LIMIT) return undefined
  return `the message has ${text.length} characters, more than ${MESSAGE_TEXT_LIMIT}`
}

function idProblem(messageId: string): string | undefined {
  if (messageId !== '' && jsonBytes(messageId) <= MESSAGE_ID_LIMIT && !UNSTORABLE.test(messageId)) return undefined
  return `the message id must have 1 to ${MESSAGE_ID_LIMIT} bytes, without NUL and halves of characters`
}
