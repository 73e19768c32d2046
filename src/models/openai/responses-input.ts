/** Turns our messages into the input of a request to the Responses API. Pure. */
import type {
  FunctionTool,
  ResponseFunctionCallOutputItem,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { legalTranscript } from '../../core/legal-transcript.ts'
import type { ImagePart, Message, ToolCall } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import { BETWEEN_TEXTS, keptItems, type KeptItem, type Owner } from './openai-data.ts'

export interface ResponsesInput {
  /** The text of the system message at the beginning. */
  instructions?: string
  input: ResponseInputItem[]
  /** For each item, the place of the message that it was made of, among the given messages. */
  places: readonly number[]
}

/** @param owner the model and the server that are asked. Reasoning of any other is left out */
export function toResponsesInput(messages: readonly Message[], owner: Owner): ResponsesInput {
  const legal = legalTranscript(messages)
  const first = legal[0]?.message
  const leads = first?.role === 'system'
  const made = legal.slice(leads ? 1 : 0).flatMap(({ message, from }) => {
    return toItems(message, owner).map((item) => ({ item, from }))
  })
  return {
    ...(leads && { instructions: first.content }),
    input: made.map(({ item }) => item),
    places: made.map(({ from }) => from),
  }
}

/** The tools are not strict: a strict schema must require every property, and our schemas need not. */
export function toResponsesTools(tools: readonly ToolSpec[]): FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }))
}

function toItems(message: Message, owner: Owner): ResponseInputItem[] {
  const { role, content, toolCallId = '' } = message
  switch (role) {
    case 'system':
      return [{ type: 'message', role: 'developer', content }]
    case 'user':
      return [{ type: 'message', role, content: toContent(message) }]
    case 'assistant':
      return toAnswer(message, keptItems(message, owner) ?? [])
    case 'tool':
      return [{ type: 'function_call_output', call_id: toolCallId, output: toOutput(message) }]
  }
}

/**
 * The items of an answer in their own order. Texts and calls are sent without the item ids that they had. For such an
 * id, the server would look for the reasoning that belongs to it, and refuse the conversation if the reasoning is
 * missing.
 */
function toAnswer(message: Message, kept: readonly KeptItem[]): ResponseInputItem[] {
  const items = inTheirOrder(message, kept) ?? inOurOrder(message, kept)
  // The server refuses reasoning that nothing follows.
  return items.slice(0, items.findLastIndex(({ type }) => type !== 'reasoning') + 1)
}

/** @returns undefined when the record was changed, so that the places no longer fit */
function inTheirOrder(
  { content, toolCalls = [] }: Message,
  kept: readonly KeptItem[],
): ResponseInputItem[] | undefined {
  const calls = kept.filter(({ type }) => type === 'function_call')
  const texts = kept.flatMap((item) => (item.type === 'message' && item.length > 0 ? [item.length] : []))
  const between = Math.max(0, texts.length - 1) * BETWEEN_TEXTS.length
  const whole = texts.reduce((sum, length) => sum + length, between) === content.length
  if (!whole || calls.length !== toolCalls.length) return undefined
  let [text, call] = [0, 0]
  const items: ResponseInputItem[] = []
  for (const item of kept) {
    if (item.type === 'reasoning') items.push(item.item)
    else if (item.type === 'function_call') items.push(toCallItem(toolCalls[call++] as ToolCall))
    else if (item.length > 0) {
      const { length, phase } = item
      items.push(toTextItem(content.slice(text, text + length), phase))
      text += length + BETWEEN_TEXTS.length
    }
  }
  return items
}

function inOurOrder({ content, toolCalls = [] }: Message, kept: readonly KeptItem[]): ResponseInputItem[] {
  return [
    ...kept.flatMap((item) => (item.type === 'reasoning' ? [item.item] : [])),
    ...(content === '' ? [] : [toTextItem(content)]),
    ...toolCalls.map(toCallItem),
  ]
}

function toTextItem(content: string, phase?: 'commentary' | 'final_answer'): ResponseInputItem {
  return { type: 'message', role: 'assistant', content, ...(phase && { phase }) }
}

function toCallItem({ id, name, arguments: text }: ToolCall): ResponseInputItem {
  return { type: 'function_call', call_id: id, name, arguments: text }
}

function toContent(message: Message): string | ResponseInputContent[] {
  const images = imagesOf(message)
  if (images.length === 0) return message.content
  return [...textPart(message.content), ...images.map((image) => ({ ...image, detail: 'auto' as const }))]
}

function toOutput(message: Message): string | ResponseFunctionCallOutputItem[] {
  const images = imagesOf(message)
  return images.length === 0 ? message.content : [...textPart(message.content), ...images]
}

function textPart(text: string): { type: 'input_text'; text: string }[] {
  return text === '' ? [] : [{ type: 'input_text', text }]
}

function imagesOf({ parts = [] }: Message): { type: 'input_image'; image_url: string }[] {
  return parts
    .filter((part): part is ImagePart => part.type === 'image')
    .map(({ data, mimeType }) => ({ type: 'input_image', image_url: `data:${mimeType};base64,${data}` }))
}
