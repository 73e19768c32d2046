/**
 * What every fake provider has: a real HTTP server with faults on demand, whose answers any `Model` gives, in JSON and
 * as a stream of events. What is said over it is a `Protocol`. For tests: it holds every request in memory.
 */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import type { Model } from '../core/model.ts'
import { CuttableResponse } from './cuttable-response.ts'
import { answerBy, type Protocol } from './fake-protocol.ts'
import { orAborted } from '../core/or-aborted.ts'
import { scriptedModel, type Script } from './scripted-model.ts'

/** A script or a model that answers, and where the server listens. */
export type FakeServerOptions = ({ script: Script } | { model: Model }) & {
  /** Requests with another key are answered with 401. Unset = any key is accepted. */
  apiKey?: string
  /** Unset = a free one. */
  port?: number
  /** Unset = `127.0.0.1`. */
  host?: string
}

/** A request that a fake provider got. */
export interface FakeRequest<Body = unknown> {
  /** Its HTTP headers, in lower case. */
  headers: IncomingHttpHeaders
  /** Its body. */
  body: Body
}

/** How a request fails. */
export interface FakeFailure {
  /** The HTTP status. */
  status: number
  /** HTTP headers of the answer. */
  headers?: Record<string, string>
  /** JSON, or text sent as it is. Unset = an error in the provider's format. */
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
export interface FakeServer<Body = unknown> {
  /** What `baseURL` takes. */
  readonly url: string
  /** The requests for an answer, in order of arrival, refused ones included. */
  readonly requests: readonly FakeRequest<Body>[]
  /**
   * Lets the next request fail, or the next few.
   *
   * @example fake.failNext({ status: 429, headers: { 'retry-after': '3' }, times: 2 })
   */
  failNext(failure: FakeFailure): void
  /**
   * Breaks the connection of the next request after `afterBytes` bytes of the answer's body. Default 0: no answer at all.
   *
   * @example fake.dropNext({ afterBytes: 300 })
   */
  dropNext(cut?: { afterBytes?: number }): void
  /**
   * Answers the next request `ms` milliseconds late.
   *
   * @example fake.delayNext(2000)
   */
  delayNext(ms: number): void
  /**
   * From now on, requests that `which` accepts (default: all) wait until `release`.
   *
   * @example
   * const held = fake.hold()
   * const turn = await session.send('Hello.')
   * await held.reached
   * held.release()
   */
  hold(which?: (request: FakeRequest<Body>) => boolean): HeldRequests
  /**
   * Resolves as soon as `n` requests have arrived since the start.
   *
   * @example await fake.requested(2)
   */
  requested(n: number): Promise<void>
  /**
   * Stops the server at once and breaks open connections.
   *
   * @example await fake.close()
   */
  close(): Promise<void>
}

type Fault =
  | { kind: 'fail'; failure: FakeFailure }
  | { kind: 'drop'; afterBytes: number }
  | { kind: 'delay'; ms: number }

interface Hold<Body> {
  which(request: FakeRequest<Body>): boolean
  reach(): void
  released: Promise<void>
}

/** @throws the system's error when the port is taken */
export async function startFakeServer<Body>(
  protocol: Protocol<Body>,
  options: FakeServerOptions,
): Promise<FakeServer<Body>> {
  const { apiKey, port = 0, host = '127.0.0.1' } = options
  const model = 'model' in options ? options.model : scriptedModel(options.script, { name: 'fake' })
  const requests: FakeRequest<Body>[] = []
  const faults: Fault[] = []
  const holds = new Set<Hold<Body>>()
  const arrivals = new EventEmitter()

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*/, '')
    const known = apiKey === undefined || protocol.keyOf(request.headers) === apiKey
    const plain = new CuttableResponse(response)
    const refuseKey = (): void =>
      plain.json(401, {}, protocol.problem(401, 'Incorrect API key provided.', 'invalid_api_key'))
    if (`${request.method} ${path}` === `GET ${protocol.base}/models`) {
      if (!known) return refuseKey()
      const listed = { id: model.name, object: 'model', created: 0, owned_by: 'fake' }
      return plain.json(200, {}, { object: 'list', data: [listed] })
    }
    if (`${request.method} ${path}` !== `POST ${protocol.base}${protocol.path}`) {
      return plain.json(404, {}, protocol.problem(404, `Unknown request: ${request.method} ${path}`))
    }
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const body = (await json(request)) as Body
    const fault = known ? faults.shift() : undefined
    const received = { headers: request.headers, body }
    requests.push(received)
    const nth = requests.length
    arrivals.emit('request')
    if (!known) return refuseKey()
    const held = [...holds].filter(({ which }) => which(received))
    for (const { reach } of held) reach()
    await orAborted(Promise.all(held.map(({ released }) => released)), gone.signal)
    if (fault?.kind === 'fail') {
      const { status, headers = {}, body: said } = fault.failure
      return plain.json(status, headers, said ?? protocol.problem(status, `fake failure ${status}`))
    }
    if (fault?.kind === 'delay') await orAborted(setTimeout(fault.ms, undefined, { signal: gone.signal }), gone.signal)
    const cut = fault?.kind === 'drop' ? new CuttableResponse(response, fault.afterBytes) : plain
    await answerBy(protocol, { model, body, headers: request.headers, nth, signal: gone.signal }, cut)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else new CuttableResponse(response).json(400, {}, protocol.problem(400, messageOf(error)))
    })
  })
  server.listen(port, host)
  await once(server, 'listening')

  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}${protocol.base}`,
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
