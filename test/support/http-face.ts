/** An HTTP server of `src/http`, and what a test reads from it. It is closed after each test. */
import { request as nodeRequest, type OutgoingHttpHeaders } from 'node:http'
import { createParser } from 'eventsource-parser'
import { afterEach } from 'vitest'
import type { StelloClient } from '../../src/client/index.ts'
import { serveHttp, type HttpServer, type ServeHttpOptions } from '../../src/http/index.ts'

export interface Answered {
  status: number
  headers: Headers
  body: unknown
}

/** The client of the server. Paths are below `/api`. */
export interface Face extends HttpServer {
  get(path: string, headers?: Record<string, string>): Promise<Answered>
  send(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answered>
  events(path: string, headers?: Record<string, string>): Promise<Stream>
}

/** A server-sent event. */
export interface Sent {
  event: string
  id?: string
  data: Record<string, unknown>
}

/** A stream of events that is open. */
export interface Stream {
  /** All events since the stream began, up to the first that fits. */
  until(fits: (event: Sent) => boolean): Promise<Sent[]>
  /** All events, when the server has ended the stream. */
  ended(): Promise<Sent[]>
  comments(): number
  /** Cuts the connection. */
  cut(): Promise<void>
}

export function useHttpFace(): (stello: StelloClient, options?: Partial<ServeHttpOptions>) => Promise<Face> {
  const open: HttpServer[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.stop()))
  })
  return async (stello, options) => {
    const server = await serveHttp({ stello, ...options })
    open.push(server)
    const ask = async (path: string, init: RequestInit): Promise<Answered> => {
      const response = await fetch(`${server.url}/api${path}`, init)
      const text = await response.text()
      const json = response.headers.get('content-type')?.startsWith('application/json') === true
      return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
    }
    return {
      ...server,
      get: (path, headers = {}) => ask(path, { headers }),
      send: (method, path, body) =>
        ask(
          path,
          body === undefined
            ? { method }
            : { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
        ),
      events: (path, headers = {}) => openStream(`${server.url}/api${path}`, headers),
    }
  }
}

async function openStream(url: string, headers: Record<string, string>): Promise<Stream> {
  const left = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: left.signal })
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`)
  const seen: Sent[] = []
  let comments = 0
  let looking: (() => void) | undefined
  const parser = createParser({
    onEvent: ({ event = '', id, data }) => {
      seen.push({ event, ...(id !== undefined && { id }), data: JSON.parse(data) as Sent['data'] })
      looking?.()
    },
    onComment: () => comments++,
  })
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body as AsyncIterable<Uint8Array>)
      parser.feed(decoder.decode(chunk, { stream: true }))
  })()
  reading.catch(() => undefined)
  return {
    comments: () => comments,
    ended: () => reading.then(() => seen),
    until: (fits) =>
      new Promise((resolve, reject) => {
        looking = () => {
          const at = seen.findIndex(fits)
          if (at >= 0) resolve(seen.slice(0, at + 1))
        }
        reading.then(
          () => reject(new Error(`the stream has ended; seen: ${seen.map(({ event }) => event).join(', ')}`)),
          reject,
        )
        looking()
      }),
    async cut() {
      left.abort()
      await reading.catch(() => undefined)
    },
  }
}

/** A request with headers that `fetch` does not allow. @returns status, body and headers */
export function rawRequest(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: OutgoingHttpHeaders; body?: string } = {},
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    // A URL object would resolve `..`, which must arrive as it was written.
    const [, origin = '', path = ''] = /^(http:\/\/[^/]+)(.*)$/.exec(url) ?? []
    const asked = nodeRequest(origin, { path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
