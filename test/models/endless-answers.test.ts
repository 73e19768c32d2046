/** A server behind the base URL that never ends what it says: the worker reads so much of it, and no more. */
import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openai } from '../../src/index.ts'

const CHUNK = 'x'.repeat(256 * 1024)
const LINES = `data: ${'x'.repeat(1000)}\n`.repeat(256)

/** @returns what the model call rejects with, and how many bytes the server got rid of before it was left */
async function ask(
  head: (response: ServerResponse) => void,
  { streaming, body }: { streaming: boolean; body: string },
): Promise<{ error: unknown; sent: number }> {
  let sent = 0
  const closed = new EventEmitter()
  const left = once(closed, 'close')
  const server = createServer((request, response) => {
    request.resume()
    response.once('close', () => closed.emit('close'))
    head(response)
    const pour = async (): Promise<void> => {
      while (!response.destroyed && response.writable) {
        sent += body.length
        if (!response.write(body)) await Promise.race([once(response, 'drain'), left])
      }
    }
    pour().catch((error: unknown) => closed.emit('error', error))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const model = openai({ model: 'endless', baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'any' })
  const options = streaming ? { onDelta: () => undefined } : {}
  const error: unknown = await model.complete([{ role: 'user', content: 'Hello' }], options).catch((e: unknown) => e)
  await left
  server.close()
  return { error, sent }
}

it.each([
  ['the body of an error', 500, 'application/json', CHUNK, 'MODEL_UNAVAILABLE', 16],
  ['an answer in one piece', 200, 'application/json', CHUNK, 'MODEL_BAD_ANSWER', 64],
  ['a line of a stream', 200, 'text/event-stream', CHUNK, 'MODEL_BAD_ANSWER', 32],
  ['an event of many lines', 200, 'text/event-stream', LINES, 'MODEL_BAD_ANSWER', 32],
] as const)('leaves a server that never ends %s', async (_what, status, type, body, code, mebibytes) => {
  const streaming = type === 'text/event-stream'
  const head = (response: ServerResponse): void => void response.writeHead(status, { 'content-type': type })
  const { error, sent } = await ask(head, { streaming, body })
  expect(error).toMatchObject({ name: 'StelloError', code })
  expect(sent).toBeLessThan(mebibytes * 1024 * 1024)
})
