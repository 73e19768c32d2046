/**
 * What a transcript is made of. Import-free: the workflow sandbox loads this file.
 */

/** Who speaks. */
export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** A tool call as the model asked for it; `arguments` is the raw text, which may be broken JSON. */
export interface ToolCall {
  /** Unique in its answer; the result refers to it. */
  id: string
  /** The tool's name. */
  name: string
  /** What the model wrote as the name, where no provider would take that: `name` is like it, and names no tool. */
  wrote?: string
  /** The arguments as the model wrote them. */
  arguments: string
}

/** Text in a richer content. */
export interface TextPart {
  /** Tells it from an image. */
  type: 'text'
  /** The text. */
  text: string
}

/** An image in a richer content. */
export interface ImagePart {
  /** Tells it from text. */
  type: 'image'
  /** base64 */
  data: string
  /** Its type, e.g. `image/png`. */
  mimeType: string
}

/** One piece of a richer content. */
export type Part = TextPart | ImagePart

/**
 * What a provider wants to get back with a record, under the provider's name: reasoning that it has encrypted or signed,
 * for example. Nobody but the model that made it reads it. It is JSON.
 */
export type ProviderData = Readonly<Record<string, unknown>>

/** One entry of a transcript. `content` is always text; richer content stands beside it in `parts`. */
export interface Message {
  /** Who said it. */
  role: Role
  /** The text of it. */
  content: string
  /** What there is beside the text, e.g. images. */
  parts?: Part[]
  /** Only on assistant messages. */
  toolCalls?: ToolCall[]
  /** Only on assistant messages: which model answered, where it said so (`Completion.model`). */
  model?: string
  /** Only on assistant messages: what the provider that made it wants back (`Completion.provider`). */
  provider?: ProviderData
  /** Only on tool messages: which call this answers. */
  toolCallId?: string
  /** Only on tool messages: the tool's name. */
  name?: string
  /** Only on tool messages: the model was told that the call failed. */
  isError?: boolean
}

/** Tokens of one model call, and its cost in US dollars where the model knows its price. */
export interface Usage {
  /** Tokens that the model read, cached ones included. */
  inputTokens: number
  /** Tokens that the model wrote. */
  outputTokens: number
  /** Of the input tokens: those from the provider's cache. */
  cachedTokens?: number
  /** US dollars; unset when the price is unknown. */
  costUsd?: number
}

/** Longest label and name of a profile, in characters: they are shown in one line and go with every start of a workflow. */
export const NAME_LIMIT = 200

/**
 * NUL and half a character: PostgreSQL accepts them neither in text nor in jsonb. After cleaning, an id with them would
 * be another id.
 */
export const UNSTORABLE: RegExp = /[\0\p{Surrogate}]/u

/** Cuts on code points, so that a preview never ends in half an emoji; the cut is visible. */
export function preview(text: string, limit = 1000): string {
  if (text.length <= limit) return text
  const end = limit - 1
  const cut = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end
  return `${text.slice(0, cut)}…`
}

/** \b \t \n \f \r " and \ take two bytes in JSON. */
const ESCAPED = [8, 9, 10, 12, 13, 34, 92]

/**
 * Like `preview`, but the limit counts bytes inside JSON: for texts in any script that must fit into a workflow's
 * state.
 */
export function brief(text: string, limit: number): string {
  return jsonBytes(text) <= limit ? text : `${cut(text, limit - 3)}…`
}

/** The longest beginning of a text that takes at most so many bytes inside JSON. It never splits a character. */
export function cut(text: string, limit: number): string {
  let [bytes, end] = [0, 0]
  for (const char of text) {
    bytes += bytesOf(char)
    if (bytes > limit) break
    end += char.length
  }
  return text.slice(0, end)
}

/** The bytes that a text takes inside JSON as UTF-8, without the quotes. */
export function jsonBytes(text: string): number {
  let bytes = 0
  for (const char of text) bytes += bytesOf(char)
  return bytes
}

function bytesOf(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (ESCAPED.includes(code)) return 2
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
}
