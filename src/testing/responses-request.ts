/** Turns a request to the Responses API into the input of our models. */
import type {
  FunctionTool,
  ResponseCreateParams,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import type { Message, Part } from '../core/message.ts'
import type { ToolSpec } from '../core/model.ts'
import { readImage } from './chat-request.ts'

/** The body of a request for a response. */
export type ResponsesRequest = ResponseCreateParams

export function itemsOf({ input = [] }: ResponsesRequest): ResponseInputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

/** Items of one answer become one message. A result gets the name of the call that it answers. */
export function readInput(body: ResponsesRequest): Message[] {
  const messages: Message[] = body.instructions ? [{ role: 'system', content: body.instructions }] : []
  const names = new Map<string, string>()
  let answer: Message | undefined
  const answering = (): Message => {
    if (!answer) messages.push((answer = { role: 'assistant', content: '' }))
    return answer
  }
  for (const item of itemsOf(body)) {
    if (item.type === 'reasoning') answering()
    else if (item.type === 'function_call') {
      const { call_id: id, name, arguments: args } = item
      names.set(id, name)
      const message = answering()
      message.toolCalls = [...(message.toolCalls ?? []), { id, name, arguments: args }]
    } else if (item.type === 'function_call_output') {
      answer = undefined
      const name = names.get(item.call_id)
      const read = readContent(item.output as string | ResponseInputContent[])
      messages.push({ role: 'tool', ...read, toolCallId: item.call_id, ...(name !== undefined && { name }) })
    } else if ('role' in item && 'content' in item) {
      const read = readContent(item.content as string | ResponseInputContent[])
      if (item.role === 'assistant') {
        const message = answering()
        message.content += message.content === '' ? read.content : `\n\n${read.content}`
        continue
      }
      answer = undefined
      messages.push({ role: item.role === 'user' ? 'user' : 'system', ...read })
    }
  }
  return messages
}

export function readResponsesTools({ tools = [] }: ResponsesRequest): ToolSpec[] {
  return tools
    .filter((tool): tool is FunctionTool => tool.type === 'function')
    .map(({ name, description, parameters }) => ({
      name,
      description: description ?? '',
      parameters: parameters ?? {},
    }))
}

function readContent(content: string | readonly ResponseInputContent[]): Pick<Message, 'content' | 'parts'> {
  if (typeof content === 'string') return { content }
  const parts = content.flatMap((part): Part[] => {
    if (part.type === 'input_image') return [readImage(part.image_url ?? '')]
    return 'text' in part ? [{ type: 'text', text: part.text }] : []
  })
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  return { content: text, ...(parts.some((part) => part.type === 'image') && { parts }) }
}
