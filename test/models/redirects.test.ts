/** A server behind the base URL redirects the request: what was meant for it goes to no other server. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { azure, createClaude, openai } from '../../src/index.ts'
import type { Model } from '../../src/core/model.ts'

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => listener(request, response))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const models: [string, (baseURL: string) => Model][] = [
  ['openai', (baseURL) => openai({ model: 'm', apiKey: 'key', baseURL, headers: { 'x-secret': 'mine' } })],
  ['createClaude', (baseURL) => createClaude({ model: 'm', apiKey: 'key', baseURL })],
  ['azure', (endpoint) => azure({ model: 'm', apiKey: 'key', endpoint })],
]

it.each(models)('never gives key or conversation to a server that the asked one points to: %s', async (_name, at) => {
  let reached = 0
  const other = await serverOf((_request, response) => {
    reached++
    response.writeHead(500).end()
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const base = await serverOf((_request, response) => void response.writeHead(status, { location: other }).end())
    const asked = at(base).complete([{ role: 'user', content: 'private' }], { onDelta: () => undefined })
    await expect(asked).rejects.toMatchObject({
      code: 'MODEL_REFUSED_REQUEST',
      message: expect.stringContaining(`redirects to ${other}`) as string,
      hint: expect.stringContaining('base URL') as string,
    })
  }
  expect(reached).toBe(0)
})

it('follows a redirect within the same server, for example one that adds a slash, but not for ever', async () => {
  const answer = { choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] }
  const base = await serverOf(({ url = '', headers }, response) => {
    if (url.endsWith('/loop/')) return void response.writeHead(308, { location: url }).end()
    if (url.endsWith('/'))
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...answer, model: headers.authorization }))
    response.writeHead(307, { location: url.includes('loop') ? '/loop/' : `${url}/` }).end()
  })
  const ask = (baseURL: string): Promise<unknown> =>
    openai({ model: 'm', apiKey: 'key', baseURL }).complete([{ role: 'user', content: 'Hello' }])
  expect(await ask(base)).toMatchObject({ content: 'hi', model: 'Bearer key' })
  await expect(ask(`${base}/loop`)).rejects.toMatchObject({ code: 'MODEL_REFUSED_REQUEST' })
})
