/** Opens the port of the HTTP face, and closes it without leaving a stream behind. */
import type { Server } from 'node:http'
import { isIPv4, type AddressInfo } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { createAdaptorServer } from '@hono/node-server'
import { messageOf, StelloError } from '../core/errors.ts'
import { createHttpApp, type HttpAppOptions } from './create-http-app.ts'

/** Where to serve, and what. */
export interface ServeHttpOptions extends Omit<HttpAppOptions, 'signal'> {
  /** Default: a free one. */
  port?: number
  /** The address to listen on. Default `127.0.0.1`. Any other than this machine's own for itself needs a token. */
  host?: string
}

/** A server that runs. */
export interface HttpServer {
  /** Where it is, e.g. `http://127.0.0.1:4999`. */
  url: string
  /** The port that it listens on. */
  port: number
  /** Ends all streams and waits, then closes the port. */
  stop(): Promise<void>
}

/** A cursor of a big tree is long, and travels in the address or in a header. */
const MAX_HEADER_BYTES = 256 * 1024
/** What a request that is under way gets at a stop, milliseconds. */
const GRACE_MS = 3000

/**
 * Serves the routes of `createHttpApp` and the page.
 *
 * @throws StelloError INVALID_ARGUMENT when others than this machine could reach it without a token, or the port is taken
 * @example
 * const server = await serveHttp({ stello: await connectStello(), port: 4999 })
 * console.log(server.url)
 * await server.stop()
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const { port = 0, host = '127.0.0.1', hosts = [], ...rest } = options
  if (!isLoopback(host) && rest.token === undefined) {
    throw new StelloError('INVALID_ARGUMENT', `others than this machine can reach ${host}: they need a token`, {
      hint: 'give a token (`--token-from NAME_OF_A_VARIABLE`), or leave the host out',
    })
  }
  const stopping = new AbortController()
  const app = createHttpApp({ ...rest, hosts: [...namesOf(host), ...hosts], signal: stopping.signal })
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { maxHeaderSize: MAX_HEADER_BYTES },
  }) as Server
  const address = await listen(server, port, host)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
        stopping.abort()
      }),
  }
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new StelloError('INVALID_ARGUMENT', `cannot listen on ${host}:${port}: ${messageOf(error)}`, {
          hint: 'leave the port out to get a free one',
        }),
      )
    })
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** What people may call a server by that listens there. */
function namesOf(host: string): string[] {
  const plain = (address: string): string => (address.includes(':') ? `[${address}]` : address)
  if (host !== '0.0.0.0' && host !== '::') return [plain(host)]
  const own = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  return [hostname(), ...own.map(({ address }) => plain(address))]
}
