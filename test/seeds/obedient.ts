/** A model that makes the calls that it is told to make. */
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, type ReplyToolCall, type ScriptFunction } from '../../src/testing/index.ts'
import { ask } from '../support/session-fixture.ts'

/** Makes the calls that its user sends as JSON, and ends when it has their results. */
export const obedient: ScriptFunction = replyBy([
  [/^\[/, ({ messages }) => ({ toolCalls: JSON.parse(messages.at(-1)?.content ?? '') as ReplyToolCall[] })],
  [() => true, 'done'],
])

/** Lets such a model make these calls in one turn. */
export async function results(session: SessionHandle, ...toolCalls: ReplyToolCall[]): Promise<string[]> {
  await ask(session, JSON.stringify(toolCalls))
  return (await session.transcript())
    .filter(({ role }) => role === 'tool')
    .slice(-toolCalls.length)
    .map(({ content }) => content)
}
