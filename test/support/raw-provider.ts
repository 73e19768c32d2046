/** A real HTTP server that sends exactly the bytes that it is given, and keeps the requests. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface RawAnswer {
  status?: number
  headers?: Record<string, string>
  /** Sent piece by piece. */
  body: readonly (string | Uint8Array)[]
  /** The connection breaks after the body. */
  breaks?: boolean
}

export interface RawRequest {
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

export interface RawProvider {
  url: string
  requests: RawRequest[]
}

/** @param answer the same for every request, or made from it */
export async function rawProvider(answer: RawAnswer | ((request: RawRequest) => RawAnswer)): Promise<RawProvider> {
  const requests: RawRequest[] = []
  const server = createServer((request, response) => {
    void (async () => {
      const body = (await json(request)) as Record<string, unknown>
      const asked = { path: request.url ?? '', headers: request.headers, body }
      requests.push(asked)
      await send(response, typeof answer === 'function' ? answer(asked) : answer)
    })()
  })
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests }
}

async function send(response: ServerResponse, { status = 200, headers, body, breaks }: RawAnswer): Promise<void> {
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers })
  for (const piece of body) await new Promise((sent) => response.write(piece, sent))
  if (breaks) response.destroy()
  else response.end()
}

/** A stream of events: objects as JSON, text as it is. */
export function sse(...events: (object | string)[]): RawAnswer {
  const lines = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  return { body: lines }
}

/** A chunk of a chat completion with one choice. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more }
}
