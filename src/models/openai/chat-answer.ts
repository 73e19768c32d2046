/**
 * Turns the answer of a chat completion, whole or streamed, into our completion. Compatible servers leave out fields,
 * give them other names and send them twice. This file reads what such a server means.
 */
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { preview, type ToolCall } from '../../core/message.ts'
import type { Completion, ModelDelta } from '../../core/model.ts'
import type { Prices } from '../prices.ts'
import { readSaid } from './chat-content.ts'
import { refuseError, type ChatEvent } from './chat-events.ts'
import { keepOpaque, type Opaque } from './chat-opaque.ts'
import { toUsage, usageIn } from './chat-usage.ts'
import { ToolCallPieces } from './tool-call-pieces.ts'

type Fields = Readonly<Record<string, unknown>>

/** Which provider answers, and what the answer costs. */
export interface Reading {
  /** The name under which the provider's data is kept. */
  provider?: string
  prices?: Prices | undefined
}

/**
 * @param onDelta gets the whole answer, if the request asked for a stream
 * @throws StelloError MODEL_UNAVAILABLE when the body is no answer, or says that the server gave up
 * @throws ToldError when the body is an error
 */
export function readAnswer(body: unknown, reading: Reading = {}, onDelta?: (delta: ModelDelta) => void): Completion {
  if (isObject(body)) refuseError(body)
  const choice = choiceOf(body)
  const message = choice?.['message']
  if (!isObject(message)) {
    throw new StelloError(
      'MODEL_UNAVAILABLE',
      `the server sent no answer but ${preview(JSON.stringify(body) ?? '', 200)}`,
    )
  }
  const pieces = new ToolCallPieces()
  // Each entry is a call of its own, whatever its id and index are.
  const told = callsOf(message).map((call, index) => pieces.add({ ...(isObject(call) && call), index }))
  const { text, reasoning, refused, reasoningContent } = readSaid(message)
  if (reasoning) onDelta?.({ type: 'reasoning', text: reasoning })
  if (text) onDelta?.({ type: 'text', text })
  for (const piece of told) if (piece) onDelta?.(piece)
  const finish = textOf(choice?.['finish_reason'])
  const model = isObject(body) ? body['model'] : undefined
  return toCompletion(
    { model, content: text, pieces, finish, refused, reasoningContent, usage: usageIn(body) },
    reading,
  )
}

/** @throws StelloError MODEL_UNAVAILABLE when the stream ends before the answer does */
export async function readStream(
  events: AsyncIterable<ChatEvent>,
  onDelta: (delta: ModelDelta) => void,
  reading: Reading = {},
): Promise<Completion> {
  const pieces = new ToolCallPieces()
  const answered: Answered = { model: '', content: '', pieces, finish: '', refused: false, reasoningContent: '' }
  const ending = { done: false, ended: false, empty: false }
  for await (const event of events) {
    if (event === 'done') ending.done = true
    else if (event === 'end') ending.ended = true
    // Nothing after `done` counts.
    if (ending.done || typeof event === 'string') continue
    answered.usage = usageIn(event.data) ?? answered.usage
    answered.model = event.data['model'] || answered.model
    const choice = choiceOf(event.data)
    ending.empty ||= choice?.['finish_reason'] === ''
    answered.finish = textOf(choice?.['finish_reason']) || answered.finish
    const delta = choice?.['delta'] ?? choice?.['message']
    if (!isObject(delta)) continue
    const { text, reasoning, refused, reasoningContent } = readSaid(delta)
    answered.refused ||= refused
    answered.content += text
    answered.reasoningContent += reasoningContent
    if (reasoning) onDelta({ type: 'reasoning', text: reasoning })
    if (text) onDelta({ type: 'text', text })
    for (const call of callsOf(delta)) {
      const told = pieces.add(call)
      if (told) onDelta(told)
    }
  }
  if (!isWhole(answered, ending)) {
    throw new StelloError('MODEL_UNAVAILABLE', 'the stream broke off before the answer was complete')
  }
  return toCompletion(answered, reading)
}

interface Answered extends Pick<Opaque, 'reasoningContent'> {
  /** The model that answered, as the server names it: often a dated name of the model that was asked. */
  model: unknown
  content: string
  pieces: ToolCallPieces
  /** Empty: the server gave no reason. */
  finish: string
  refused: boolean
  usage?: Fields | undefined
}

interface StreamEnding {
  /** The server said that it is done. */
  done: boolean
  /** Nothing of the body is missing. */
  ended: boolean
  /** The server has sent an empty reason. Such a server sends a real one at the end of its answer. */
  empty: boolean
}

/**
 * Whether the answer is complete. Some servers never send a finish reason. Then the stream must have ended in a way
 * that cannot be a broken connection.
 */
function isWhole({ finish, content, pieces }: Answered, { done, ended, empty }: StreamEnding): boolean {
  if (finish !== '') return true
  const said = content !== '' || pieces.calls.length > 0
  return said && pieces.complete && (done || (ended && !empty))
}

function toCompletion(
  { model, content, pieces, finish, refused, usage, reasoningContent }: Answered,
  { provider = '', prices }: Reading,
): Completion {
  const { calls: toolCalls, extras } = pieces
  return {
    content,
    toolCalls,
    usage: toUsage(usage, prices),
    finishReason: refused ? 'refusal' : toFinishReason(finish, toolCalls),
    ...(typeof model === 'string' && model !== '' && { model }),
    ...keepOpaque(provider, { reasoningContent, extras }),
  }
}

const LENGTH = ['length', 'max_tokens', 'model_length', 'max_output_tokens', 'max_length']
const REFUSED = ['content_filter', 'refusal', 'safety', 'sensitive', 'prohibited_content', 'recitation']
/** The server could not go on, or it cannot read what the model wrote. Another try may help. */
const GAVE_UP = /insufficient_system_resource|malformed_function_call|^(error|abort|network_error)$/

/** @throws StelloError MODEL_UNAVAILABLE */
function toFinishReason(given: string, calls: readonly ToolCall[]): Completion['finishReason'] {
  const reason = given.toLowerCase()
  if (GAVE_UP.test(reason)) {
    throw new StelloError('MODEL_UNAVAILABLE', `the server gave up within the answer: ${preview(given, 100)}`)
  }
  if (LENGTH.includes(reason)) return 'length'
  if (REFUSED.includes(reason)) return 'refusal'
  // Some servers write `stop` although the answer has calls.
  return calls.length > 0 ? 'tool_calls' : 'stop'
}

function choiceOf(body: unknown): Fields | undefined {
  const choices = isObject(body) ? body['choices'] : undefined
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(first) ? first : undefined
}

/** The calls of a message. Older servers know only one call per message, under another name. */
function callsOf({ tool_calls: calls, function_call: only }: Fields): unknown[] {
  if (Array.isArray(calls)) return calls.filter((call) => isObject(call) && call['type'] !== 'custom')
  return isObject(only) ? [{ index: 0, function: only }] : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
