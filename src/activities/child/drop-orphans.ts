/** Makes the result of `contextFn` valid for providers: all refuse an unanswered call, and a result without a call. */
import { StelloError } from '../../core/errors.ts'
import type { Message, ToolCall } from '../../core/message.ts'
import { isObject } from '../../core/is-object.ts'

const ROLES: readonly unknown[] = ['system', 'user', 'assistant', 'tool']

/**
 * Drops tool calls without results and results without calls, as `filter` and `slice` leave them behind. A result
 * counts only where providers want it: directly after the assistant message with its call.
 *
 * @param messages what `contextFn` returned
 * @returns the rest, and how many calls and results were dropped
 * @throws StelloError INVALID_MESSAGE naming the record that is not a `Message`
 */
export function dropOrphans(messages: unknown): { messages: Message[]; dropped: number } {
  if (!Array.isArray(messages)) throw invalid('contextFn must return an array of messages', messages)
  const records = messages.map(toMessage)
  const kept: Message[] = []
  let dropped = 0
  for (let i = 0; i < records.length;) {
    const end = endOfExchange(records, i)
    const exchange = closeExchange(records.slice(i, end))
    kept.push(...exchange.messages)
    dropped += exchange.dropped
    i = end
  }
  return { messages: kept, dropped }
}

/** An exchange is one record and the tool results directly after it. */
function endOfExchange(records: readonly Message[], start: number): number {
  let end = start + 1
  while (records[end]?.role === 'tool') end++
  return end
}

function closeExchange([head, ...results]: Message[]): { messages: Message[]; dropped: number } {
  if (!head) return { messages: [], dropped: 0 }
  if (head.role === 'tool') return { messages: [], dropped: 1 + results.length }
  const asked = head.toolCalls ?? []
  const answers = new Map(results.map((result) => [result.toolCallId, result]))
  const calls = asked.filter((call, i) => answers.has(call.id) && asked.findIndex(({ id }) => id === call.id) === i)
  const answered = results.filter(
    (result) => answers.get(result.toolCallId) === result && calls.some((call) => call.id === result.toolCallId),
  )
  const dropped = asked.length - calls.length + results.length - answered.length
  const first = withCalls(head, calls)
  const empty = asked.length > 0 && calls.length === 0 && first.content === ''
  return { messages: empty ? [] : [first, ...answered], dropped }
}

function withCalls(message: Message, calls: ToolCall[]): Message {
  const { toolCalls: _all, ...rest } = message
  return calls.length > 0 ? { ...rest, toolCalls: calls } : rest
}

function toMessage(record: unknown, index: number): Message {
  const where = `contextFn: record ${index}`
  if (!isObject(record)) throw invalid(`${where} must be a message`, record)
  if (!ROLES.includes(record['role'])) throw invalid(`${where}: role must be ${ROLES.join(', ')}`, record['role'])
  if (typeof record['content'] !== 'string') throw invalid(`${where}: content must be text`, record['content'])
  const calls = record['toolCalls'] ?? []
  if (!Array.isArray(calls) || !calls.every(isCall)) {
    throw invalid(`${where}: toolCalls must be a list of { id, name, arguments }, all text`, calls)
  }
  return record as unknown as Message
}

function isCall(call: unknown): boolean {
  return isObject(call) && ['id', 'name', 'arguments'].every((key) => typeof call[key] === 'string')
}

function invalid(problem: string, value: unknown): StelloError {
  return new StelloError(
    'INVALID_MESSAGE',
    `${problem}, not ${Array.isArray(value) ? 'a list' : value === null ? 'null' : typeof value}`,
  )
}
