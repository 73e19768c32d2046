/** A provider that goes away and comes back when the test says so: a real HTTP server in front of a fake provider. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { startFakeOpenAI } from '../../src/testing/index.ts'

export interface Refused {
  status: number
  headers?: Record<string, string>
  /** The provider's code of the error. */
  code?: string
}

export interface ProviderRequest {
  /** When the request came, by `performance.now()`. */
  at: number
  /** The user's last message. */
  message: string
  /** The status of the answer. */
  status: number
}

export interface WeatheredProvider {
  readonly url: string
  readonly requests: readonly ProviderRequest[]
  /** From now on, every request is refused with this error. Unset: requests are served. */
  away(refused?: Refused): void
  close(): Promise<void>
}

export async function startWeatheredProvider(
  options: Parameters<typeof startFakeOpenAI>[0],
  { answerAfterMs = 0 }: { answerAfterMs?: number } = {},
): Promise<WeatheredProvider> {
  const fake = await startFakeOpenAI(options)
  const requests: ProviderRequest[] = []
  let refused: Refused | undefined
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now()
    const body = await text(request)
    const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] }
    const message = messages.findLast(({ role }) => role === 'user')?.content ?? ''
    const away = refused
    requests.push({ at, message, status: away?.status ?? 200 })
    if (away) {
      response.writeHead(away.status, { 'content-type': 'application/json', ...away.headers })
      response.end(JSON.stringify({ error: { message: 'not now', ...(away.code && { code: away.code }) } }))
      return
    }
    if (answerAfterMs > 0) await new Promise((resolve) => setTimeout(resolve, answerAfterMs))
    const answer = await fetch(`${fake.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    away: (next) => void (refused = next),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await fake.close()
    },
  }
}
