/**
 * What OpenAI wants back with an answer: its encrypted reasoning, in its place between texts and calls. The record
 * keeps it. Texts and calls stand in the record itself, so only their places are kept here.
 */
import { isObject } from '../../core/is-object.ts'
import type { Message, ProviderData } from '../../core/message.ts'
import type { ResponseOutputItem, ResponseReasoningItem } from 'openai/resources/responses/responses'

/** What is kept of an item of an answer: what the record does not hold already. */
export type KeptItem =
  | { type: 'reasoning'; item: ResponseReasoningItem }
  | { type: 'message'; length: number; phase?: Phase }
  | { type: 'function_call'; id: string }

type Phase = 'commentary' | 'final_answer'

/** The model and the server that wrote the reasoning. No other can read it. */
export interface Owner {
  /** The name by which the model was asked. */
  model: string
  host: string
}

/** Stands between the messages of one answer: in the record, they are one text. */
export const BETWEEN_TEXTS = '\n\n'
/** In characters of JSON. If the data is longer, its reasoning is dropped: the record could not hold it. */
const KEPT_LIMIT = 1024 * 1024 - 1024
const KEY = 'openai'

/** @returns undefined when the record holds everything already */
export function keepItems(output: readonly ResponseOutputItem[], owner: Owner): ProviderData | undefined {
  const items = output.flatMap(toKept)
  const texts = items.filter(({ type }) => type === 'message')
  const needed = texts.length > 1 || items.some((item) => item.type === 'reasoning' || 'phase' in item)
  if (!needed) return undefined
  const data = { [KEY]: { ...owner, items } }
  if (JSON.stringify(data).length <= KEPT_LIMIT) return data
  return { [KEY]: { ...owner, items: items.filter(({ type }) => type !== 'reasoning') } }
}

/** @returns undefined when nothing is kept, or when it belongs to another model or server */
export function keptItems({ provider }: Message, { model, host }: Owner): readonly KeptItem[] | undefined {
  const data = provider?.[KEY]
  if (!isObject(data) || data['model'] !== model || data['host'] !== host || !Array.isArray(data['items'])) {
    return undefined
  }
  return data['items'] as KeptItem[]
}

/** Leaves out the fields that are only for display, such as `status`. OpenAI refuses them when they are sent back. */
function toKept(item: ResponseOutputItem): KeptItem[] {
  if (item.type === 'function_call') return [{ type: 'function_call', id: item.call_id }]
  if (item.type === 'message') {
    const { phase } = item
    return [{ type: 'message', length: textOf(item).length, ...(phase && { phase }) }]
  }
  if (item.type !== 'reasoning') return []
  const { id, summary, content, encrypted_content: encrypted } = item
  // Nothing is stored at OpenAI, so OpenAI could not find an item without its content.
  if (!encrypted) return []
  const kept = { type: 'reasoning' as const, id, summary, encrypted_content: encrypted, ...(content && { content }) }
  return [{ type: 'reasoning', item: kept }]
}

type OutputMessage = Extract<ResponseOutputItem, { type: 'message' }>

/** The text of a message, a refusal included. Other servers may leave the content out. */
export function textOf({ content = [] }: Partial<OutputMessage>): string {
  return content.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join('')
}

export function isRefusal({ content = [] }: Partial<OutputMessage>): boolean {
  return content.some(({ type }) => type === 'refusal')
}
