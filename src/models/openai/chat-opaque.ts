/**
 * What providers of chat completions want back with an answer: `reasoning_content` (DeepSeek and providers like it) and
 * `extra_content` of calls (Gemini's thought signatures). It is kept in the record under the provider's name, and given
 * back only to that provider. Calls are identified by their place, because their ids may be rewritten.
 */
import { isObject } from '../../core/is-object.ts'
import type { Message, ProviderData } from '../../core/message.ts'

/** Longer reasoning is cut. The record has room for this many characters even if all of them must be escaped. */
const REASONING_LIMIT = 160_000
/** What Google accepts instead of a signature, for calls that another provider made. */
const NO_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } }

export interface Opaque {
  reasoningContent: string
  /** By the place of the call. */
  extras: readonly unknown[]
}

/** @param provider the provider to which it goes back */
export function keepOpaque(provider: string, { reasoningContent, extras }: Opaque): { provider?: ProviderData } {
  const kept = {
    ...(reasoningContent !== '' && { reasoning_content: reasoningContent.slice(0, REASONING_LIMIT) }),
    ...(extras.some(isObject) && { extra_content: extras.map((extra) => (isObject(extra) ? extra : null)) }),
  }
  return Object.keys(kept).length > 0 ? { provider: { [provider]: kept } } : {}
}

/**
 * The reasoning that goes back with a message. DeepSeek demands it in turns that called tools, with every request, and
 * ignores it in other turns. So it is sent only in turns that called tools.
 */
export function reasoningBack({ provider: kept }: Message, provider: string): { reasoning_content?: string } {
  const own = kept?.[provider]
  const text = isObject(own) ? own['reasoning_content'] : undefined
  if (typeof text === 'string') return { reasoning_content: text }
  // DeepSeek refuses a message without this field, even if another provider wrote the message.
  return provider === 'deepseek' ? { reasoning_content: '' } : {}
}

/** @param place the place of the call in its message */
export function extraBack({ provider: kept }: Message, provider: string, place: number): { extra_content?: object } {
  const own = kept?.[provider]
  if (!isObject(own)) return provider === 'google' && place === 0 ? { extra_content: NO_SIGNATURE } : {}
  const extras = own['extra_content']
  const extra: unknown = Array.isArray(extras) ? extras[place] : undefined
  return isObject(extra) ? { extra_content: extra } : {}
}
