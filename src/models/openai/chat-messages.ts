/**
 * Turns our messages into a request for a chat completion. Pure. Must never drop a tool result: providers refuse a call
 * without one.
 */
import type {
  ChatCompletionContentPart,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions'
import type { ImagePart, Message, ToolCall } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'

export function toChatMessages(messages: readonly Message[]): ChatCompletionMessageParam[] {
  const result: ChatCompletionMessageParam[] = []
  let shown: ChatCompletionContentPart[] = []
  // Tool messages carry only text, and nothing may come between the results of one answer.
  const showImages = (): void => {
    if (shown.length > 0) result.push({ role: 'user', content: shown })
    shown = []
  }
  for (const message of messages) {
    if (message.role !== 'tool') showImages()
    const images = imagesOf(message)
    if (message.role === 'tool' && images.length > 0) {
      shown.push(
        { type: 'text', text: `What ${message.name ?? 'the tool'} (${message.toolCallId ?? ''}) returned:` },
        ...images,
      )
    }
    result.push(...toChatMessage(message, images))
  }
  showImages()
  return result
}

export function toChatTools(tools: readonly ToolSpec[]): ChatCompletionFunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
}

function toChatMessage(message: Message, images: ChatCompletionContentPart[]): ChatCompletionMessageParam[] {
  const { role, content, toolCalls = [] } = message
  switch (role) {
    case 'system':
      return [{ role, content }]
    case 'user':
      if (images.length === 0) return [{ role, content }]
      return [{ role, content: content === '' ? images : [{ type: 'text', text: content }, ...images] }]
    case 'assistant':
      if (toolCalls.length > 0) return [{ role, content: content || null, tool_calls: toolCalls.map(toChatCall) }]
      // An empty answer says nothing, and some providers refuse it.
      return content === '' ? [] : [{ role, content }]
    case 'tool':
      return [
        {
          role,
          tool_call_id: message.toolCallId ?? '',
          content: content || (images.length > 0 ? '(images below)' : ''),
        },
      ]
  }
}

function toChatCall({ id, name, arguments: text }: ToolCall): ChatCompletionMessageToolCall {
  return { id, type: 'function', function: { name, arguments: toValidArguments(text) } }
}

/** Some providers parse the arguments of past calls. They refuse the whole conversation because of a broken one. */
function toValidArguments(text: string): string {
  if (text.trim() === '') return '{}'
  return isJsonObject(text) ? text : JSON.stringify({ invalid: text })
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function imagesOf({ parts = [] }: Message): ChatCompletionContentPart[] {
  return parts
    .filter((part): part is ImagePart => part.type === 'image')
    .map(({ data, mimeType }) => ({ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }))
}
