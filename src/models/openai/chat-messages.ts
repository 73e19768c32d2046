/**
 * Turns our messages into a request for a chat completion. Pure. It must never drop a tool result: providers refuse a
 * call without a result.
 */
import { createHash } from 'node:crypto'
import type {
  ChatCompletionContentPart,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions'
import { legalTranscript } from '../../core/legal-transcript.ts'
import type { ImagePart, Message } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import { extraBack, reasoningBack } from './chat-opaque.ts'

/**
 * A message as it is sent, and the place of our message that it was made of. Errors name the place of the sent message.
 */
export interface SentMessage {
  param: ChatCompletionMessageParam
  from: number
}

/**
 * @param provider the name under which the provider's data is kept. Data of other providers is not sent
 * @example toChatMessages(messages, 'deepseek').map(({ param }) => param)
 */
export function toChatMessages(messages: readonly Message[], provider: string): SentMessage[] {
  const result: SentMessage[] = []
  let shown: ChatCompletionContentPart[] = []
  let [role, at]: [string, number] = ['', 0]
  // Tool messages carry only text, and nothing may come between the results of one answer.
  const showImages = (): void => {
    if (shown.length > 0) add({ role: 'user', content: shown }, at)
    shown = []
  }
  const add = (param: ChatCompletionMessageParam, from: number): void => {
    // Mistral refuses a user's message right after a result.
    if (provider === 'mistral' && role === 'tool' && param.role === 'user') {
      result.push({ param: { role: 'assistant', content: 'I have read the results.' }, from })
    }
    role = param.role
    result.push({ param, from })
  }
  let inTools = false
  for (const { message, from } of legalTranscript(messages)) {
    if (message.role !== 'tool') showImages()
    const images = imagesOf(message)
    if (message.role === 'tool' && images.length > 0) {
      at = from
      shown.push(
        { type: 'text', text: `What ${message.name ?? 'the tool'} (${message.toolCallId ?? ''}) returned:` },
        ...images,
      )
    }
    inTools = message.role === 'user' ? false : inTools || message.toolCalls !== undefined
    add(toChatMessage(message, { images, provider, inTools }), from)
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

interface About {
  images: ChatCompletionContentPart[]
  provider: string
  /** The turn has called a tool. */
  inTools: boolean
}

function toChatMessage(message: Message, { images, provider, inTools }: About): ChatCompletionMessageParam {
  const { role, content, toolCalls = [] } = message
  switch (role) {
    case 'system':
      return { role, content }
    case 'user':
      if (images.length === 0) return { role, content }
      return { role, content: content === '' ? images : [{ type: 'text', text: content }, ...images] }
    case 'assistant': {
      const reasoning = inTools ? reasoningBack(message, provider) : {}
      if (toolCalls.length === 0) return { role, content, ...reasoning }
      const calls = toolCalls.map(({ id, name, arguments: args }, i): ChatCompletionMessageToolCall => {
        const extra = extraBack(message, provider, i)
        return { id: sentId(id, provider), type: 'function', function: { name, arguments: args }, ...extra }
      })
      return { role, content: content || null, tool_calls: calls, ...reasoning }
    }
    case 'tool':
      return {
        role,
        tool_call_id: sentId(message.toolCallId ?? '', provider),
        content: content || (images.length > 0 ? '(images below)' : ''),
      }
  }
}

/** Mistral accepts only ids of exactly nine letters and digits. */
function sentId(id: string, provider: string): string {
  if (provider !== 'mistral' || /^[a-zA-Z0-9]{9}$/.test(id)) return id
  return createHash('sha256').update(id).digest('hex').slice(0, 9)
}

function imagesOf({ parts = [] }: Message): ChatCompletionContentPart[] {
  return parts
    .filter((part): part is ImagePart => part.type === 'image')
    .map(({ data, mimeType }) => ({ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }))
}
