/**
 * The one reader of everything a tool may return. Never throws: a result that is not JSON becomes an error that the
 * model reads.
 */
import { messageOf } from '../core/errors.ts'
import { preview, type Part } from '../core/message.ts'
import { toJson } from '../core/to-json.ts'
import { isObject } from '../core/is-object.ts'

export interface NormalizedResult {
  /** What the model reads. */
  content: string
  /** All parts in order, when there is more than text. */
  parts?: Part[]
  isError: boolean
  /** The tool's own words for its failure: `type` and `code` of its `error`. */
  error?: ToolFault
  /** For people, instead of `content`. */
  display?: string
  /** For people and logs, never for the model. */
  details?: unknown
}

export interface ToolFault {
  type?: string
  code?: string
}

/** Longest type or code, in UTF-16 units. */
const FAULT_LIMIT = 64
const NO_OUTPUT = '(no output)'

/**
 * Reads text, nothing, `{ content: [...], isError?, details? }`, `{ success, data?, error? }`,
 * `{ success, llmContent, displayContent, error?, metadata? }`, or any other JSON.
 *
 * @example normalizeResult({ success: true, data: { saved: true } }) // { content: '{"saved":true}', isError: false }
 */
export function normalizeResult(value: unknown): NormalizedResult {
  try {
    if (value instanceof Error) return { content: messageOf(value), isError: true }
    if (!isObject(value)) return { content: toText(value), isError: false }
    if (isContent(value)) return fromContent(value)
    return typeof value['success'] === 'boolean' ? fromSuccess(value) : { content: toText(value), isError: false }
  } catch (error) {
    return { content: `The tool returned something that is not JSON: ${messageOf(error)}`, isError: true }
  }
}

/** `content` alone does not make it this shape: `{ path, content: 'text of a file' }` is data. */
function isContent(value: Json): boolean {
  const { content } = value
  if (Array.isArray(content)) return content.every((part) => isObject(part) && typeof part['type'] === 'string')
  return (
    typeof content === 'string' && Object.keys(value).every((key) => ['content', 'isError', 'details'].includes(key))
  )
}

function fromContent(value: Json): NormalizedResult {
  const given = value['content']
  const parts = typeof given === 'string' ? [textPart(given)] : (given as Json[]).map(toPart)
  const text = parts.map((part) => (part.type === 'text' ? part.text : `[image ${part.mimeType}]`)).join('\n')
  return {
    content: text || NO_OUTPUT,
    isError: value['isError'] === true,
    ...(parts.some((part) => part.type === 'image') ? { parts } : {}),
    ...withDetails(value['details']),
  }
}

/** Kinds of content that no model accepts (audio, resources) are shown as JSON. */
function toPart(part: Json): Part {
  const { type, text, data, mimeType } = part
  if (type === 'text' && typeof text === 'string') return textPart(text)
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string') return { type, data, mimeType }
  return textPart(toText(part))
}

function fromSuccess(value: Json): NormalizedResult {
  const { success, data, error, llmContent, displayContent, metadata, ...rest } = value
  const isError = success === false
  const problem = isError ? errorText(error) : undefined
  // An object with other fields is data itself: nothing of it may get lost.
  const shown = Object.keys(rest).length > 0 ? value : (llmContent ?? data)
  return {
    content:
      isError && shown === undefined ? (problem ?? 'The tool failed without saying why') : withProblem(problem, shown),
    isError,
    ...(isError && faultOf(error)),
    ...(displayContent === undefined ? {} : { display: toText(displayContent) }),
    ...withDetails(metadata),
  }
}

/** A failed tool's data often explains the failure: the model reads both, unless the data says it already. */
function withProblem(problem: string | undefined, shown: unknown): string {
  const text = toText(shown)
  return problem === undefined || text.includes(problem) ? text : `${problem}\n${text}`
}

function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  if (isObject(error) && typeof error['message'] === 'string') return error['message']
  return toText(error)
}

function faultOf(error: unknown): { error?: ToolFault } {
  if (!isObject(error)) return {}
  const { type, code } = error
  const fault = { ...named('type', type), ...named('code', code) }
  return Object.keys(fault).length > 0 ? { error: fault } : {}
}

function named(field: keyof ToolFault, value: unknown): ToolFault {
  const known = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
  return known ? { [field]: preview(String(value), FAULT_LIMIT) } : {}
}

/** Details are stored. If they are not JSON, a note replaces them, and the result itself still counts. */
function withDetails(details: unknown): { details?: unknown } {
  if (details === undefined || details === null) return {}
  try {
    return { details: JSON.parse(toJson(details)) as unknown }
  } catch (error) {
    return { details: `not JSON: ${messageOf(error)}` }
  }
}

type Json = Record<string, unknown>

function toText(value: unknown): string {
  if (value === undefined || value === null || value === '') return NO_OUTPUT
  return typeof value === 'string' ? value : toJson(value)
}

function textPart(text: string): Part {
  return { type: 'text', text }
}
