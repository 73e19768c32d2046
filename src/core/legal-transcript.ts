/**
 * Makes a transcript valid for every provider, just before it is sent: the one place for the rules that all of them
 * share. Pure, and the same beginning always gives the same result, so a provider's cache of prompts still finds it.
 * What one provider alone demands is the business of its adapter.
 */
import { CallIds, toLegalName } from './call-ids.ts'
import { isObject } from './is-object.ts'
import type { Message, ToolCall } from './message.ts'

/** A message to send, and where it comes from. */
export interface LegalMessage {
  message: Message
  /** Its place in the given list; for a result that was missing, the place of its call. */
  from: number
}

/**
 * Afterwards, every call has one result, right after the message of the call, in the order of the calls; no result is
 * without a call; ids are unique and legal, as are names; arguments are an object; no message is empty. Records that
 * keep to this come out as the same objects.
 *
 * @example const sent = legalTranscript(messages).map(({ message }) => message)
 */
export function legalTranscript(messages: readonly Message[]): LegalMessage[] {
  const results = resultsOf(messages)
  const ids = new CallIds()
  return messages.flatMap((message, from): LegalMessage[] => {
    const { role, content, parts = [], toolCalls = [] } = message
    if (role === 'tool') return []
    if (role !== 'assistant' || toolCalls.length === 0) {
      const empty = content.trim() === '' && (role === 'assistant' || parts.length === 0)
      return empty ? [] : [{ message: withoutCalls(message), from }]
    }
    const calls = toolCalls.map((call) => legalCall(call, ids))
    const same = calls.every((call, i) => call === toolCalls[i])
    const answers = calls.map((call, i) => answerTo(call, results.get(toolCalls[i] as ToolCall), from))
    return [{ message: same ? message : { ...message, toolCalls: calls }, from }, ...answers]
  })
}

/**
 * Each call's result. A result belongs to the last call of its id that came before it; of several calls of
 * one message with one id, to the first that has none yet.
 */
function resultsOf(messages: readonly Message[]): ReadonlyMap<ToolCall, LegalMessage> {
  const results = new Map<ToolCall, LegalMessage>()
  const open = new Map<string, ToolCall[]>()
  for (const [from, message] of messages.entries()) {
    const { role, toolCalls = [], toolCallId } = message
    if (role === 'assistant') {
      for (const { id } of toolCalls) open.delete(id)
      for (const call of toolCalls) open.set(call.id, [...(open.get(call.id) ?? []), call])
    } else if (role === 'tool' && toolCallId !== undefined) {
      const call = open.get(toolCallId)?.shift()
      if (call) results.set(call, { message, from })
    }
  }
  return results
}

/** @param asked the place of the call */
function answerTo(call: ToolCall, given: LegalMessage | undefined, asked: number): LegalMessage {
  const { id: toolCallId, name } = call
  if (!given) {
    const content = 'TOOL_OUTCOME_UNKNOWN: there is no result of this call'
    return { message: { role: 'tool', toolCallId, name, content, isError: true }, from: asked }
  }
  const { message: result, from } = given
  const same = result.toolCallId === toolCallId && result.name === name
  return { message: same ? result : { ...result, toolCallId, name }, from }
}

function withoutCalls(message: Message): Message {
  if (message.toolCalls === undefined) return message
  const { toolCalls: _none, ...rest } = message
  return rest
}

function legalCall(call: ToolCall, ids: CallIds): ToolCall {
  const legal = { id: ids.take(call.id), name: toLegalName(call.name), arguments: legalArguments(call.arguments) }
  const same = legal.id === call.id && legal.name === call.name && legal.arguments === call.arguments
  return same ? call : { ...call, ...legal }
}

/** Some providers parse the arguments of past calls. They refuse the whole conversation because of a broken one. */
function legalArguments(text: string): string {
  if (text.trim() === '') return '{}'
  try {
    if (isObject(JSON.parse(text))) return text
  } catch {
    // Told to the model as it was written.
  }
  return JSON.stringify({ invalid: text })
}
