/**
 * What a record keeps of an AI SDK answer beside its text and calls: reasoning, and the provider's data of each part.
 */
import type { Message, ProviderData } from '../../core/message.ts'
import type { AssistantPart, CallPart, CustomPart, Metadata, ReasoningPart } from './language-model.ts'

/** One part of an answer: the part as it goes back, or a mark that a piece of the text or a call stood here. */
type Kept =
  | ReasoningPart
  | CustomPart
  | (({ type: 'said'; length: number } | { type: 'called' }) & { providerOptions?: Metadata })

/** What is kept of an answer. */
interface AiSdkRecord {
  parts: readonly Kept[]
  /** Hash of everything that was sent before the answer. Set if the model binds its reasoning to that. */
  prompt?: string
}

/** A part of an answer, with all its pieces put together. */
export interface WholePart {
  type: 'text' | 'reasoning' | 'tool-call' | 'custom'
  text: string
  kind?: string | undefined
  metadata?: Metadata | undefined
}

/** @returns undefined when there is nothing but text and calls, which are in the record already */
export function toProviderData(
  { key, prompt }: { key: string; prompt?: string | undefined },
  parts: readonly WholePart[],
): ProviderData | undefined {
  if (parts.every(({ type, metadata }) => metadata === undefined && (type === 'text' || type === 'tool-call')))
    return undefined
  const kept = parts.map(({ type, text, kind = '', metadata }): Kept => {
    const options = { ...(metadata && { providerOptions: metadata }) }
    if (type === 'text') return { type: 'said', length: text.length, ...options }
    if (type === 'tool-call') return { type: 'called', ...options }
    return type === 'custom' ? { type, kind, ...options } : { type, text, ...options }
  })
  return { [key]: { parts: kept, ...(prompt !== undefined && { prompt }) } }
}

/**
 * The parts of an assistant's record, in their order. Data of another provider is left out.
 *
 * @param prompt returns the hash of what is sent before the message; undefined if reasoning is valid after every prompt
 */
export function toAssistantParts(key: string, message: Message, prompt: (() => string) | undefined): AssistantPart[] {
  const { content, toolCalls = [] } = message
  const calls = toolCalls.map(({ id, name, arguments: text }): CallPart => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: JSON.parse(text) as unknown,
  }))
  const plain: AssistantPart[] = [
    ...(content.trim() === '' ? [] : [{ type: 'text' as const, text: content }]),
    ...calls,
  ]
  const { parts: kept, prompt: before } = (message.provider?.[key] ?? {}) as Partial<AiSdkRecord>
  if (!Array.isArray(kept)) return plain
  const whole = inOrder(content, calls, kept)
  if (prompt) return whole && before === prompt() ? whole : plain
  return whole ?? [...kept.filter((part) => part.type === 'reasoning'), ...plain]
}

/** @returns undefined when text or calls differ from what the model wrote */
function inOrder(content: string, calls: readonly CallPart[], kept: readonly Kept[]): AssistantPart[] | undefined {
  let [at, call] = [0, 0]
  const result: AssistantPart[] = []
  for (const part of kept) {
    const options = { ...(part.providerOptions && { providerOptions: part.providerOptions }) }
    if (part.type === 'said') {
      const text = content.slice(at, (at += part.length))
      if (text.trim() !== '' || part.providerOptions) result.push({ type: 'text', text, ...options })
    } else if (part.type === 'called') {
      const next = calls[call++]
      if (!next) return undefined
      result.push({ ...next, ...options })
    } else result.push(part)
  }
  return at === content.length && call === calls.length ? result : undefined
}
