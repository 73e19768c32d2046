/** Turns a chat completions request into the input of our models. */
import type OpenAI from 'openai'
import type { Message, Part } from '../core/message.ts'
import type { ToolSpec } from '../core/model.ts'

/** The body of a request for a chat completion. */
export type ChatRequest = OpenAI.ChatCompletionCreateParams

/** A result does not carry the name of its tool, which is found at the call that it answers. */
export function readMessages({ messages }: ChatRequest): Message[] {
  const names = new Map<string, string>()
  return messages.map((message): Message => {
    const content = readContent(message.content)
    switch (message.role) {
      case 'assistant': {
        const toolCalls = (message.tool_calls ?? []).flatMap((call) =>
          call.type === 'function'
            ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }]
            : [],
        )
        for (const { id, name } of toolCalls) names.set(id, name)
        return { role: 'assistant', ...content, ...(toolCalls.length > 0 && { toolCalls }) }
      }
      case 'tool': {
        const name = names.get(message.tool_call_id)
        return { role: 'tool', ...content, toolCallId: message.tool_call_id, ...(name !== undefined && { name }) }
      }
      case 'function':
        return { role: 'tool', ...content, name: message.name }
      case 'user':
        return { role: 'user', ...content }
      case 'developer':
      case 'system':
        return { role: 'system', ...content }
    }
  })
}

export function readTools({ tools = [] }: ChatRequest): ToolSpec[] {
  return tools.flatMap((tool) => {
    if (tool.type !== 'function') return []
    const { name, description = '', parameters = {} } = tool.function
    return [{ name, description, parameters }]
  })
}

function readContent(content: OpenAI.ChatCompletionMessageParam['content']): Pick<Message, 'content' | 'parts'> {
  if (!Array.isArray(content)) return { content: content ?? '' }
  const parts = content.flatMap((part): Part[] => {
    if (part.type === 'text') return [part]
    return part.type === 'image_url' ? [readImage(part.image_url.url)] : []
  })
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return { content: text, ...(parts.some((part) => part.type === 'image') && { parts }) }
}

export function readImage(url: string): Part {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return mimeType && data !== undefined ? { type: 'image', mimeType, data } : { type: 'text', text: url }
}
