/**
 * A real HTTP server that speaks OpenAI's chat completions, in JSON and as a stream, with faults on demand. Any `Model`
 * gives the answers. For tests: it holds every request in memory.
 */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import type { Model, ModelDelta } from '../core/model.ts'
import { readMessages, readTools, type ChatRequest } from './chat-request.ts'
import { errorBody, lastChunks, toChatCompletion, toChatError, toChunk, toDeltas } from './chat-response.ts'
import { CuttableResponse } from './cuttable-response.ts'
import { orAborted } from './or-aborted.ts'
import { scriptedModel, type Script } from './scripted-model.ts'

/** A script or a model that answers, and where the server listens. */
export type FakeOpenAIOptions = ({ script: Script } | { model: Model }) & {
  /** Requests with another key are answered with 401. Unset = any key is accepted. */
  apiKey?: string
  /** Unset = a free one. */
  port?: number
  /** Unset = `127.0.0.1`. */
  host?: string
}

/** A request that the server got. */
export interface FakeRequest {
  /** Its HTTP headers, in lower case. */
  headers: IncomingHttpHeaders
  /** Its body. */
  body: ChatRequest
}

/** How a request fails. */
export interface FakeFailure {
  /** The HTTP status. */
  status: number
  /** HTTP headers of the answer. */
  headers?: Record<string, string>
  /** JSON, or text sent as it is. Unset = an error in OpenAI's format. */
  body?: unknown
  /** How many requests fail; default 1. */
  times?: number
}

/** Requests that wait for the test. */
export interface HeldRequests {
  /** Resolves as soon as a request waits. */
  readonly reached: Promise<void>
  /** Answers them. */
  release(): void
}

/** A fake provider. Each request meets at most one fault, in the order in which the faults were requested. */
export interface FakeOpenAI {
  /** What `baseURL` and OPENAI_BASE_URL take. */
  readonly url: string
  /** The requests for a completion, in order of arrival, refused ones included. */
  readonly requests: readonly FakeRequest[]
  /** Lets the next request fail, or the next few. */
  failNext(failure: FakeFailure): void
  /** Breaks the connection after `afterBytes` bytes of the answer's body; default 0: without any answer. */
  dropNext(cut?: { afterBytes?: number }): void
  /** Answers a request `ms` milliseconds late. */
  delayNext(ms: number): void
  /** From now on, requests that `which` accepts (default: all) wait until `release`. */
  hold(which?: (request: FakeRequest) => boolean): HeldRequests
  /** Resolves as soon as `n` requests have arrived since the start. */
  requested(n: number): Promise<void>
  /** Stops the server at once and breaks open connections. */
  close(): Promise<void>
}

type Fault =
  | { kind: 'fail'; failure: FakeFailure }
  | { kind: 'drop'; afterBytes: number }
  | { kind: 'delay'; ms: number }

/**
 * Starts a fake provider.
 *
 * @param options what answers: a `script` as for `scriptedModel`, or any `model`; `apiKey`, `port`, `host`
 * @throws the system's error when the port is taken
 * @example
 * const fake = await startFakeOpenAI({ script: ['Hello.'] })
 * fake.failNext({ status: 503 })
 * const model = openai({ model: 'any', baseURL: fake.url })
 */
export async function startFakeOpenAI(options: FakeOpenAIOptions): Promise<FakeOpenAI> {
  const { apiKey, port = 0, host = '127.0.0.1' } = options
  const model = 'model' in options ? options.model : scriptedModel(options.script, { name: 'fake' })
  const requests: FakeRequest[] = []
  const faults: Fault[] = []
  const holds = new Set<{ which(request: FakeRequest): boolean; reach(): void; released: Promise<void> }>()
  const arrivals = new EventEmitter()

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*/, '')
    const known = apiKey === undefined || request.headers.authorization === `Bearer ${apiKey}`
    const plain = new CuttableResponse(response)
    if (`${request.method} ${path}` === 'GET /v1/models') {
      if (!known) return refuseKey(plain)
      return plain.json(
        200,
        {},
        { object: 'list', data: [{ id: model.name, object: 'model', created: 0, owned_by: 'fake' }] },
      )
    }
    if (`${request.method} ${path}` !== 'POST /v1/chat/completions') {
      return plain.json(404, {}, errorBody(404, `Unknown request: ${request.method} ${path}`))
    }
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const body = (await json(request)) as ChatRequest
    const fault = known ? faults.shift() : undefined
    const received = { headers: request.headers, body }
    requests.push(received)
    arrivals.emit('request')
    if (!known) return refuseKey(plain)
    const held = [...holds].filter(({ which }) => which(received))
    for (const { reach } of held) reach()
    await orAborted(Promise.all(held.map(({ released }) => released)), gone.signal)
    if (fault?.kind === 'fail') return fail(plain, fault.failure)
    if (fault?.kind === 'delay') await orAborted(setTimeout(fault.ms, undefined, { signal: gone.signal }), gone.signal)
    const cut = fault?.kind === 'drop' ? new CuttableResponse(response, fault.afterBytes) : plain
    await answer(model, { body, id: `chatcmpl-${requests.length}` }, cut, gone.signal)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else new CuttableResponse(response).json(400, {}, errorBody(400, messageOf(error)))
    })
  })
  server.listen(port, host)
  await once(server, 'listening')

  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/v1`,
    requests,
    failNext(failure) {
      for (let n = 0; n < (failure.times ?? 1); n++) faults.push({ kind: 'fail', failure })
    },
    dropNext({ afterBytes = 0 } = {}) {
      faults.push({ kind: 'drop', afterBytes })
    },
    delayNext(ms) {
      faults.push({ kind: 'delay', ms })
    },
    hold(which = () => true) {
      let [reach, release] = [(): void => {}, (): void => {}]
      const reached = new Promise<void>((resolve) => (reach = resolve))
      const released = new Promise<void>((resolve) => (release = resolve))
      const hold = { which, reach: () => reach(), released }
      holds.add(hold)
      return {
        reached,
        release() {
          holds.delete(hold)
          release()
        },
      }
    },
    async requested(n) {
      while (requests.length < n) await once(arrivals, 'request')
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The head of a stream is sent with its first piece, so that an earlier failure can still have its own status. */
async function answer(
  model: Model,
  { body, id }: { body: ChatRequest; id: string },
  response: CuttableResponse,
  signal: AbortSignal,
): Promise<void> {
  const head = { id, model: body.model }
  const send = (event: unknown): void => {
    if (!response.begun) response.head(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  let streamed = false
  const onDelta = (delta: ModelDelta): void => {
    streamed = true
    send(toChunk(head, delta))
  }
  try {
    const completion = await model.complete(readMessages(body), {
      tools: readTools(body),
      signal,
      ...(body.stream && { onDelta }),
    })
    if (!body.stream) return response.json(200, {}, toChatCompletion(head, completion))
    if (!streamed) for (const delta of toDeltas(completion)) send(toChunk(head, delta))
    for (const chunk of lastChunks(head, completion, body.stream_options?.include_usage === true)) send(chunk)
    send('[DONE]')
    response.end()
  } catch (error) {
    if (signal.aborted) return
    const { status, headers, body: problem } = toChatError(error)
    if (!response.begun) return response.json(status, headers, problem)
    send(problem)
    response.end()
  }
}

function fail(
  response: CuttableResponse,
  { status, headers = {}, body = errorBody(status, `fake failure ${status}`) }: FakeFailure,
): void {
  response.json(status, headers, body)
}

function refuseKey(response: CuttableResponse): void {
  response.json(401, {}, errorBody(401, 'Incorrect API key provided.', 'invalid_api_key'))
}
