/** How a fake provider speaks: what a protocol has to say, and the one way in which an answer is given by it. */
import type { IncomingHttpHeaders } from 'node:http'
import { isStelloError, messageOf, type ErrorCode } from '../core/errors.ts'
import type { Message } from '../core/message.ts'
import type { Completion, Model, ModelDelta, ToolSpec } from '../core/model.ts'
import type { CuttableResponse } from './cuttable-response.ts'

/** One event of a stream. */
export interface ServerEvent {
  /** Its name, where the protocol has names. */
  event?: string
  /** Text is sent as it is. */
  data: unknown
}

/** An answer of which the pieces are sent as they come. It may keep what is open. */
export interface Streaming {
  piece(delta: ModelDelta): ServerEvent[]
  end(completion: Completion): ServerEvent[]
  /** An error behind the first piece. `problem` is what the error would have been as a whole body. */
  broken(problem: unknown, failure: Failure): ServerEvent[]
}

/** How the answer to one request is written. */
export interface Writing {
  /** @param reasoning what the model has thought aloud */
  whole(completion: Completion, reasoning: string): unknown
  stream(): Streaming
}

/** What a model is asked with. */
export interface Asking {
  messages: Message[]
  tools: ToolSpec[]
  streaming: boolean
}

/** What one provider's API says over HTTP. */
export interface Protocol<Body> {
  /** The path of its base URL, e.g. `/v1`. */
  readonly base: string
  /** The path of a request for an answer behind it, e.g. `/messages`. */
  readonly path: string
  keyOf(headers: IncomingHttpHeaders): string | undefined
  /** The body of an error. */
  problem(status: number, message: string, code?: string): unknown
  /** @throws Refusal when a rule of the provider is broken */
  read(body: Body, headers: IncomingHttpHeaders): Asking
  /** @param nth counts the requests of the server from 1 */
  write(body: Body, nth: number): Writing
}

/** A request that breaks a rule of the provider. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string | undefined

  constructor(message: string, { status = 400, code }: { status?: number; code?: string } = {}) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The answer of a provider for which our models would throw an error. */
export interface Failure {
  status: number
  message: string
  code?: string | undefined
  headers: Record<string, string>
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  MODEL_AUTH: 401,
  MODEL_RATE_LIMITED: 429,
  MODEL_UNAVAILABLE: 503,
  MODEL_REFUSED_REQUEST: 400,
  MODEL_CONTEXT_TOO_LONG: 400,
}

export function toFailure(error: unknown): Failure {
  const message = messageOf(error)
  if (error instanceof Refusal) return { status: error.status, message, code: error.code, headers: {} }
  const known = isStelloError(error) ? error : undefined
  const { retryAfterMs } = known ?? {}
  return {
    status: (known && STATUS[known.code]) ?? 500,
    message,
    code: known?.code === 'MODEL_CONTEXT_TOO_LONG' ? 'context_length_exceeded' : undefined,
    headers: retryAfterMs === undefined ? {} : { 'retry-after-ms': String(retryAfterMs) },
  }
}

/** One request for an answer. */
export interface Asked<Body> {
  model: Model
  body: Body
  headers: IncomingHttpHeaders
  /** Counts the requests of the server from 1. */
  nth: number
  /** Fires when its client is gone. */
  signal: AbortSignal
}

/** The head of a stream is sent with its first piece, so that an earlier failure can still have its own status. */
export async function answerBy<Body>(
  protocol: Protocol<Body>,
  { model, body, headers, nth, signal }: Asked<Body>,
  response: CuttableResponse,
): Promise<void> {
  const send = (events: ServerEvent[]): void => {
    if (!response.begun) response.head(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    for (const { event, data } of events) {
      const name = event === undefined ? '' : `event: ${event}\n`
      response.write(`${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
    }
  }
  let streaming: Streaming | undefined
  try {
    const { messages, tools, streaming: asked } = protocol.read(body, headers)
    const writing = protocol.write(body, nth)
    let reasoning = ''
    const onDelta = (delta: ModelDelta): void => {
      if (delta.type === 'reasoning') reasoning += delta.text
      if (!asked) return
      streaming ??= writing.stream()
      send(streaming.piece(delta))
    }
    const completion = await model.complete(messages, { tools, signal, onDelta })
    if (!asked) return response.json(200, {}, writing.whole(completion, reasoning))
    if (!streaming) for (const delta of toDeltas(completion)) onDelta(delta)
    streaming ??= writing.stream()
    send(streaming.end(completion))
    response.end()
  } catch (error) {
    if (signal.aborted) return
    const failure = toFailure(error)
    const problem = protocol.problem(failure.status, failure.message, failure.code)
    if (!response.begun) return response.json(failure.status, failure.headers, problem)
    if (streaming) send(streaming.broken(problem, failure))
    response.end()
  }
}

/** For a model that does not stream. */
function toDeltas({ content, toolCalls }: Completion): ModelDelta[] {
  const text: ModelDelta[] = content ? [{ type: 'text', text: content }] : []
  return [...text, ...toolCalls.map((call, index): ModelDelta => ({ type: 'toolCall', index, ...call }))]
}
