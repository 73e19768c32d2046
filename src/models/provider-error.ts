/**
 * Reads what a provider said from the error of its SDK. Each SDK has classes of its own, but they hold the same facts.
 * So this file reads fields and not classes, and no SDK needs to be installed for it. `model-error.ts` decides what
 * follows from an error.
 */

/** What a provider answered instead of a completion. */
export interface ProviderError {
  /** The HTTP status. Undefined: the error came inside a stream, or the AI SDK refused the request by itself. */
  status: number | undefined
  /** How the provider names the error, e.g. `insufficient_quota`, `overloaded_error`. */
  code: string
  type: string
  /** For people: the status and the provider's own words. */
  message: string
  headers: Headers | undefined
  /** The place, in the request, of the message that the error is about. */
  index: number | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** @returns undefined when no provider has answered: the connection failed, or our own code did */
export function readProviderError(error: unknown): ProviderError | undefined {
  if (!isObject(error)) return undefined
  const status = errorStatus(error['status'] ?? error['statusCode'])
  const body = bodyOf(error)
  if (status === undefined && !body && !typeOfName(error['name'])) return undefined
  // OpenAI's SDK hands over the error of the body, Anthropic's the body with the error, the AI SDK the text of the body.
  const told = body && isObject(body['error']) ? body['error'] : (body ?? {})
  const text = textOf(told['message']) || (body && textOf(body['message'])) || textOf(error['message'])
  return {
    status,
    code: textOf(error['code']) || textOf(told['code']),
    type: typeOfName(error['name']) || textOf(error['type']) || textOf(told['type']),
    message: status === undefined || text.startsWith(`${status} `) ? text : `${status} ${text}`,
    headers: headersOf(error['headers'] ?? error['responseHeaders']),
    index: indexIn(`${textOf(told['param'])} ${text}`),
  }
}

/** `messages[3].content`, `messages.3`, `messages.[3].role`, `input[5]`, `['messages', 3]`. */
function indexIn(text: string): number | undefined {
  const [, index] = /\b(?:messages|input|contents)(?:['"], ?|\.?\[|\.)(\d{1,6})\b/.exec(text) ?? []
  return index === undefined ? undefined : Number(index)
}

function bodyOf(error: Fields): Fields | undefined {
  for (const each of [error['error'], error['data'], parsed(error['responseBody'])]) if (isObject(each)) return each
  // The AI SDK hands over an error inside a stream unchanged. It may be a plain object.
  return error instanceof Error ? undefined : error
}

/** The type of an error with which the AI SDK refuses a request by itself, before it asks a server. */
function typeOfName(name: unknown): string {
  if (name === 'AI_LoadAPIKeyError') return 'authentication_error'
  const refused = /^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchModel|LoadSetting)Error$/
  return refused.test(textOf(name)) ? 'invalid_request_error' : ''
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

function headersOf(headers: unknown): Headers | undefined {
  if (headers instanceof Headers) return headers
  if (!isObject(headers)) return undefined
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** An answer that breaks off has a status too, but this is not the status of an error. */
function errorStatus(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 400 ? value : undefined
}
