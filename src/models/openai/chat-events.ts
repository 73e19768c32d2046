/**
 * Reads the body of a streamed answer: server-sent events, or the whole answer of a server that ignores `stream`. This
 * file does not know what an answer means.
 */
import { createParser } from 'eventsource-parser'
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import { preview } from '../../core/message.ts'

/** `done`: the server said that it is done. `end`: the body has ended, and no part of it is missing. */
export type ChatEvent = { data: Readonly<Record<string, unknown>> } | 'done' | 'end'

/** An error that a server sends with status 200. It has the fields that `provider-error.ts` reads. */
export class ToldError extends Error {
  readonly error: object
  /** Some servers send the HTTP status as the error's code. */
  readonly status: number | undefined

  constructor(error: object) {
    super('message' in error ? String(error.message) : preview(JSON.stringify(error), 200))
    this.error = error
    const code = 'code' in error ? Number(error.code) : 0
    this.status = code >= 400 && code < 600 ? code : undefined
  }
}

/** @throws ToldError for a body or a chunk that is an error */
export function refuseError(value: Readonly<Record<string, unknown>>): void {
  const { error } = value
  if (isObject(error)) throw new ToldError(error)
  if (typeof error === 'string' && error !== '') throw new ToldError({ message: error })
  // An error without the outer `error` field, as older servers send it: `{ "object": "error", "message": … }`.
  if (value['object'] === 'error' || value['type'] === 'error') throw new ToldError(value)
}

/**
 * What the server sent instead of a stream: its whole answer, or the HTML page of a proxy as text. Undefined if it
 * sends a stream; the body is then not read.
 */
export async function wholeInstead(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (/\bhtml\b/i.test(type)) return response.text()
  return /\bjson\b/i.test(type) && !/stream/i.test(type) ? parsed(await response.text()) : undefined
}

/**
 * @throws ToldError when the server sends an error
 * @throws StelloError MODEL_UNAVAILABLE for an event that is no JSON
 * @throws whatever the connection throws
 */
export async function* chatEvents({ body, headers }: Response): AsyncGenerator<ChatEvent> {
  const events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => events.push(data) })
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }))
    for (const data of events.splice(0)) if (data.trim() !== '') yield toEvent(data)
  }
  // Some servers leave out the empty line after the last event.
  parser.feed(`${decoder.decode()}\n\n`)
  for (const data of events) if (data.trim() !== '') yield toEvent(data)
  // If the response names no length and is not chunked, a broken connection looks like an end.
  if (headers.has('content-length') || headers.get('transfer-encoding')?.includes('chunked')) yield 'end'
}

function toEvent(data: string): ChatEvent {
  if (data.trim() === '[DONE]') return 'done'
  const value = parsed(data)
  if (!isObject(value)) {
    throw new StelloError('MODEL_UNAVAILABLE', `the server sent no answer but ${preview(data, 200)}`)
  }
  refuseError(value)
  return { data: value }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
