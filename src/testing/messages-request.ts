/** A request of Anthropic's Messages API, as the fake server reads it, and what it asks a model with. */
import type { Message, Part } from '../core/message.ts'
import type { ToolSpec } from '../core/model.ts'

/** A block of a message or of a result. Which fields there are depends on its type. */
export interface MessagesBlock {
  /** `text`, `image`, `tool_use`, `tool_result`, `thinking`, `redacted_thinking`. */
  type: string
  /** Of a text. */
  text?: string
  /** Of an image. */
  source?: { type: string; media_type?: string; data?: string }
  /** Of a call. */
  id?: string
  /** Of a call: the tool's name. */
  name?: string
  /** Of a call: its arguments. */
  input?: unknown
  /** Of a result: the call that it answers. */
  tool_use_id?: string
  /** Of a result. */
  content?: string | MessagesBlock[]
  /** Of a result: the call failed. */
  is_error?: boolean
  /** Of thinking. */
  thinking?: string
  /** Of thinking. */
  signature?: string
  /** Of redacted thinking. */
  data?: string
  /** The prompt is cached up to here. */
  cache_control?: { type: string; ttl?: string }
}

/** A message of the conversation. */
export interface MessagesTurn {
  /** `user` or `assistant`. */
  role: string
  /** What was said. */
  content: string | MessagesBlock[]
}

/** A tool that the model may call. */
export interface MessagesTool {
  /** Its name. */
  name: string
  /** What it does. */
  description?: string
  /** The JSON Schema of its arguments. */
  input_schema: Record<string, unknown>
  /** The prompt is cached up to here. */
  cache_control?: MessagesBlock['cache_control']
}

/** The body of a request of Anthropic's Messages API. */
export interface MessagesRequest {
  /** The model. */
  model: string
  /** Limit of the answer. */
  max_tokens: number
  /** The conversation. */
  messages: MessagesTurn[]
  /** The system prompt. */
  system?: string | MessagesBlock[]
  /** The tools. */
  tools?: MessagesTool[]
  /** Which tools may be called. */
  tool_choice?: { type: string }
  /** Whether the model thinks. */
  thinking?: { type: string; budget_tokens?: number; display?: string }
  /** How much work the model puts into the answer. */
  output_config?: { effort?: string }
  /** Randomness. */
  temperature?: number
  /** Whether the answer is a stream. */
  stream?: boolean
}

export function blocksOf(content: string | MessagesBlock[] | undefined): MessagesBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

/** A result does not carry the name of its tool, which is found at the call that it answers. */
export function readConversation({ system, messages }: MessagesRequest): Message[] {
  const names = new Map<string, string>()
  const rules = textOf(blocksOf(system))
  const talk = messages.flatMap(({ role, content }): Message[] => {
    const blocks = blocksOf(content)
    if (role === 'assistant') {
      const toolCalls = blocks.flatMap(({ type, id = '', name = '', input }) =>
        type === 'tool_use' ? [{ id, name, arguments: JSON.stringify(input) }] : [],
      )
      for (const { id, name } of toolCalls) names.set(id, name)
      return [{ role, content: textOf(blocks), ...(toolCalls.length > 0 && { toolCalls }) }]
    }
    const results = blocks.flatMap((block): Message[] => {
      if (block.type !== 'tool_result') return []
      const { tool_use_id: toolCallId = '', is_error: isError } = block
      const name = names.get(toolCallId)
      const told = { ...readContent(blocksOf(block.content)), ...(isError && { isError }) }
      return [{ role: 'tool', toolCallId, ...(name !== undefined && { name }), ...told }]
    })
    const said = blocks.filter(({ type }) => type !== 'tool_result')
    return said.length > 0 ? [...results, { role: 'user', ...readContent(said) }] : results
  })
  return rules === '' ? talk : [{ role: 'system', content: rules }, ...talk]
}

export function readTools({ tools = [], tool_choice: choice }: MessagesRequest): ToolSpec[] {
  if (choice?.type === 'none') return []
  return tools.map(({ name, description = '', input_schema: parameters }) => ({ name, description, parameters }))
}

function readContent(blocks: MessagesBlock[]): Pick<Message, 'content' | 'parts'> {
  const parts = blocks.flatMap(({ type, text = '', source }): Part[] => {
    if (type !== 'image') return type === 'text' ? [{ type, text }] : []
    return [{ type, mimeType: source?.media_type ?? '', data: source?.data ?? '' }]
  })
  return { content: textOf(blocks), ...(parts.some(({ type }) => type === 'image') && { parts }) }
}

function textOf(blocks: readonly MessagesBlock[]): string {
  return blocks.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : [])).join('\n')
}
