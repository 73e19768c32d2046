/**
 * How many tokens a prompt takes, before a provider counts it. The estimate costs next to nothing: bytes, counted natively
 * and once per message. A provider's count of the last prompt corrects it (`density`).
 */
import type { Message } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'

/** Bytes of UTF-8 per token: right for English, and not far off for other languages, code and JSON. */
const BYTES_PER_TOKEN = 4
/** What a provider adds to a message: its role, its ends. */
const PER_MESSAGE = 4
/** A picture of usual size. Providers count between 250 and 1,600. */
export const PER_IMAGE = 1200
/** The range of a credible density. A count beyond it is no count of this prompt. */
const DENSITY = { least: 0.25, most: 8 }
/** A small prompt is mostly what the provider adds: its count says nothing about text. */
const LEAST_COUNTED = 50

const known = new WeakMap<Message, number>()

export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/** Messages never change, so each is counted once. */
export function messageTokens(message: Message): number {
  const before = known.get(message)
  if (before !== undefined) return before
  const { content, parts = [], toolCalls = [], provider } = message
  const images = parts.filter(({ type }) => type === 'image').length
  const calls = toolCalls.reduce((sum, call) => sum + PER_MESSAGE + textTokens(call.name + call.arguments), 0)
  const opaque = provider ? textTokens(JSON.stringify(provider)) : 0
  const tokens = PER_MESSAGE + textTokens(content) + images * PER_IMAGE + calls + opaque
  known.set(message, tokens)
  return tokens
}

/** Everything that a model is asked with. */
export function promptTokens(
  system: string | undefined,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
): number {
  const told = tools
    .map(({ name, description, parameters }) => name + description + JSON.stringify(parameters))
    .join('')
  return textTokens(system ?? '') + textTokens(told) + messages.reduce((sum, each) => sum + messageTokens(each), 0)
}

/**
 * How many tokens the provider counted for one of the estimate.
 *
 * @param counted tokens that the model read; 0: its provider does not count
 * @returns undefined when the count is none, or cannot be one of this prompt
 */
export function densityOf(counted: number, estimated: number): number | undefined {
  if (counted < LEAST_COUNTED || estimated < LEAST_COUNTED) return undefined
  const density = counted / estimated
  return density >= DENSITY.least && density <= DENSITY.most ? density : undefined
}
