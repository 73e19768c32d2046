/**
 * What providers behind chat completions want back with an answer: `reasoning_content` (DeepSeek and those like it) and
 * `extra_content` of calls (Gemini's signatures of thoughts). Kept in the record under the provider's name, given back
 * to that provider alone. Calls are known by their place: their ids may be rewritten.
 */
import { isObject } from '../../core/is-object.ts'
import type { Message, ProviderData } from '../../core/message.ts'

/** Beyond it, thoughts are cut: the record has room for this much, whatever has to be escaped in it. */
const REASONING_LIMIT = 160_000
/** Google's own word for calls that another provider made, which have no signature. */
const NO_SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } }

export interface Opaque {
  reasoningContent: string
  /** By the place of the call. */
  extras: readonly unknown[]
}

/** @param provider whom it goes back to */
export function keepOpaque(provider: string, { reasoningContent, extras }: Opaque): { provider?: ProviderData } {
  const kept = {
    ...(reasoningContent !== '' && { reasoning_content: reasoningContent.slice(0, REASONING_LIMIT) }),
    ...(extras.some(isObject) && { extra_content: extras.map((extra) => (isObject(extra) ? extra : null)) }),
  }
  return Object.keys(kept).length > 0 ? { provider: { [provider]: kept } } : {}
}

/**
 * DeepSeek demands it with every call of the model, and ignores it where no tool was called. So it is sent within turns
 * that called tools.
 */
export function reasoningBack({ provider: kept }: Message, provider: string): { reasoning_content?: string } {
  const own = kept?.[provider]
  const text = isObject(own) ? own['reasoning_content'] : undefined
  if (typeof text === 'string') return { reasoning_content: text }
  // It refuses a call without the field also where another provider made the call.
  return provider === 'deepseek' ? { reasoning_content: '' } : {}
}

/** @param place of the call in its message */
export function extraBack({ provider: kept }: Message, provider: string, place: number): { extra_content?: object } {
  const own = kept?.[provider]
  if (!isObject(own)) return provider === 'google' && place === 0 ? { extra_content: NO_SIGNATURE } : {}
  const extras = own['extra_content']
  const extra: unknown = Array.isArray(extras) ? extras[place] : undefined
  return isObject(extra) ? { extra_content: extra } : {}
}
