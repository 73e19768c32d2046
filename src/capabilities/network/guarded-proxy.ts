/**
 * A proxy on this machine through which a browser asks for everything: pages, what they load, redirects, web sockets. The
 * browser resolves no name itself, so the guard checks every connection that it makes.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../core/errors.ts'
import { portOf, type NetworkGuard } from './network-guard.ts'
import { NetworkRefusal } from './network-refusal.ts'

export interface GuardedProxy {
  /** `http://127.0.0.1:port` */
  server: string
  /** Ends all connections. */
  close(): Promise<void>
}

export async function startGuardedProxy(guard: NetworkGuard): Promise<GuardedProxy> {
  const upstreams = new Set<Socket>()
  const connect = (url: URL): Socket => {
    const upstream = guard.connect(url.hostname, portOf(url))
    upstreams.add(upstream)
    return upstream.once('close', () => upstreams.delete(upstream))
  }
  const proxy = createServer((asked, answer) => pass(asked, answer, connect))
  proxy.on('connect', (asked: IncomingMessage, client: Duplex, head: Buffer) =>
    tunnel(asked, { client, head }, connect),
  )
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async close() {
      const closed = once(proxy, 'close')
      proxy.close()
      proxy.closeAllConnections()
      for (const upstream of upstreams) upstream.destroy()
      await closed
    },
  }
}

type Connect = (url: URL) => Socket

/** A request by http: its URL is whole. */
function pass(asked: IncomingMessage, answer: ServerResponse, connect: Connect): void {
  const fail = (error: unknown): void => {
    if (answer.headersSent) return void answer.destroy()
    answer.writeHead(statusOf(error), { 'content-type': 'text/plain; charset=utf-8' }).end(messageOf(error))
  }
  try {
    const url = new URL(asked.url ?? '')
    const { 'proxy-connection': _ours, ...headers } = asked.headers
    const createConnection = (): Socket => connect(url)
    const upstream = request({ path: url.pathname + url.search, method: asked.method, headers, createConnection })
    upstream.once('error', fail).once('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
      response.once('error', fail)
    })
    answer.once('close', () => upstream.destroy())
    asked.pipe(upstream)
  } catch (error) {
    fail(error)
  }
}

/** Everything else, encrypted or a web socket: a connection that bytes go through in both directions. */
function tunnel(asked: IncomingMessage, { client, head }: { client: Duplex; head: Buffer }, connect: Connect): void {
  const fail = (error: unknown): void => void client.end(`HTTP/1.1 ${statusOf(error)} Not Connected\r\n\r\n`)
  try {
    const upstream = connect(new URL(`http://${asked.url ?? ''}`))
    upstream.once('error', fail).once('connect', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n')
      upstream.write(head)
      upstream.pipe(client).pipe(upstream)
    })
    upstream.once('close', () => client.destroy())
    client.once('close', () => upstream.destroy()).on('error', () => upstream.destroy())
  } catch (error) {
    fail(error)
  }
}

function statusOf(error: unknown): number {
  return error instanceof NetworkRefusal ? 403 : 502
}
