/**
 * What a transcript is made of. Import-free: the workflow sandbox loads this file.
 */

export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** A tool call as the model asked for it; `arguments` is the raw text, which may be broken JSON. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
}

export interface TextPart {
  type: 'text'
  text: string
}

export interface ImagePart {
  type: 'image'
  /** base64 */
  data: string
  mimeType: string
}

export type Part = TextPart | ImagePart

/** One transcript entry (Stello's L3). `content` is always text; richer content stands beside it in `parts`. */
export interface Message {
  role: Role
  content: string
  parts?: Part[]
  /** Only on assistant messages. */
  toolCalls?: ToolCall[]
  /** Only on tool messages: which call this answers. */
  toolCallId?: string
  /** Only on tool messages: the tool's name. */
  name?: string
  /** Only on tool messages: the model was told that the call failed. */
  isError?: boolean
}

/** Tokens of one model call, and its cost in US dollars where the model knows its price. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  cachedTokens?: number
  costUsd?: number
}

/** Cuts on code points, so that a preview never ends in half an emoji; the cut is visible. */
export function preview(text: string, limit = 1000): string {
  if (text.length <= limit) return text
  const end = limit - 1
  const cut = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end
  return `${text.slice(0, cut)}…`
}
