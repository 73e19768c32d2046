/** A model that makes the calls that it is told to make. */
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, type ReplyToolCall, type ScriptFunction } from '../../src/testing/index.ts'
import { ask } from '../support/session-fixture.ts'

/** Makes the calls that its user sends as JSON, and ends when it has their results. */
export const obedient: ScriptFunction = replyBy([
  [/^\[/, ({ messages }) => ({ toolCalls: JSON.parse(messages.at(-1)?.content ?? '') as ReplyToolCall[] })],
  [() => true, 'done'],
])

/** Makes the calls that its user sends as JSON, a list for each answer, and ends when it has the results of the last. */
export const obedientInRounds: ScriptFunction = ({ messages }) => {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const text = messages[asked]?.content ?? ''
  const rounds = (text.startsWith('[') ? JSON.parse(text) : []) as ReplyToolCall[][]
  const toolCalls = rounds[messages.slice(asked).filter(({ role }) => role === 'assistant').length]
  return toolCalls ? { toolCalls } : 'done'
}

/** What the model has read of the calls of its last turn. */
export async function lastResults(session: SessionHandle): Promise<string[]> {
  const records = await session.transcript()
  const asked = records.findLastIndex(({ role }) => role === 'user')
  return records.slice(asked).flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
}

/** Lets such a model make these calls in one turn. */
export async function results(session: SessionHandle, ...toolCalls: ReplyToolCall[]): Promise<string[]> {
  await ask(session, JSON.stringify(toolCalls))
  return (await session.transcript())
    .filter(({ role }) => role === 'tool')
    .slice(-toolCalls.length)
    .map(({ content }) => content)
}
