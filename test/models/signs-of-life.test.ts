/** Everything that a model's server sends shows that the call lives, even a comment. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openai } from '../../src/index.ts'
import { createGate } from '../support/gate.ts'

const ANSWER = [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] })}\n\n`,
  'data: [DONE]\n\n',
].join('')

it('is told when the request is sent, and for each chunk of bytes, comments too', async () => {
  const signs = createGate()
  signs.open()
  let reply: ServerResponse | undefined
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    reply = response
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const model = openai({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'any' })
  const answer = model.complete([{ role: 'user', content: 'Hello' }], {
    onDelta: () => undefined,
    onAlive: () => void signs.pass(),
  })
  expect(signs.arrived).toBeLessThanOrEqual(1)
  await signs.reached(2)
  for (const sign of [3, 4, 5]) {
    reply?.write(': still thinking\n\n')
    await signs.reached(sign)
  }
  reply?.end(ANSWER)
  expect(await answer).toMatchObject({ content: 'hi' })
  expect(signs.arrived).toBeGreaterThanOrEqual(6)
  server.close()
})
