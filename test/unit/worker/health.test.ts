/** A request to the port of the metrics may ask for anything. It never ends a worker. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { serveHealth } from '../../../src/worker/health.ts'
import { quietPort } from '../../support/quiet-port.ts'

async function ask(port: number, target: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  return (await text(socket)).split('\r\n', 1)[0] ?? ''
}

it('answers an invalid path like an unknown one, and goes on', async () => {
  const port = await quietPort()
  const health = await serveHealth({ port, host: '127.0.0.1' }, 'http://127.0.0.1:1/metrics', () => undefined)
  const leave = health.add(async () => ({ agent: 'a', problems: [] }))
  for (const target of ['//', 'http://[', '*', 'constructor', '/__proto__', '/healthz/..', `/${'a'.repeat(9000)}`])
    expect(await ask(port, target), target).toMatch(/^HTTP\/1\.1 40[04] /)
  expect(await ask(port, '/healthz?verbose=1')).toMatch(/^HTTP\/1\.1 200 /)
  expect(await ask(port, '/readyz')).toMatch(/^HTTP\/1\.1 200 /)
  // Nobody serves metrics there.
  expect(await ask(port, '/metrics')).toMatch(/^HTTP\/1\.1 503 /)
  await leave()
})
