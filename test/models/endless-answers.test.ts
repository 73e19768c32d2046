/** A server behind the base URL never ends its answer: the worker reads a limited part of it, and no more. */
import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openai } from '../../src/index.ts'
import { limitedFetch } from '../../src/models/limited-fetch.ts'

const CHUNK = 'x'.repeat(256 * 1024)
const COMMENTS = `: ${'x'.repeat(64 * 1024)}\n\n`.repeat(16)
const LINES = `data: ${'x'.repeat(1000)}\n`.repeat(256)

/** @returns the error of the model call, and how many bytes the server could send before the worker left */
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
  ['a stream of what is no answer', 200, 'text/event-stream', COMMENTS, 'MODEL_BAD_ANSWER', 320],
] as const)('leaves a server that never ends %s', async (_what, status, type, body, code, mebibytes) => {
  const streaming = type === 'text/event-stream'
  const head = (response: ServerResponse): void => void response.writeHead(status, { 'content-type': type })
  const { error, sent } = await ask(head, { streaming, body })
  expect(error).toMatchObject({ name: 'StelloError', code })
  expect(sent).toBeLessThan(mebibytes * 1024 * 1024)
})

it('passes an event on only when it is complete, because clients search it again with every piece', async () => {
  const sent = 'data: one\n\ndata: two\r\n\r\n: ping\n\ndata: three\n'
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Each write is a chunk of its own.
    for (const char of sent) response.write(char)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { body } = await limitedFetch()(`http://127.0.0.1:${port}`)
  const pieces: string[] = []
  for await (const piece of body ?? []) pieces.push(Buffer.from(piece as Uint8Array).toString())
  server.close()
  expect(pieces.join('')).toBe(sent)
  for (const piece of pieces.slice(0, -1)) expect(piece).toMatch(/\n\r?\n$/)
})
