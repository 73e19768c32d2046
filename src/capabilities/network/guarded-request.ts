/**
 * One GET request through the guard, with bounds on time and size. It follows no redirect and sends no cookie. Each request
 * has its own connection: nothing is kept of one for the next.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { messageOf } from '../../core/errors.ts'
import { portOf, type NetworkGuard } from './network-guard.ts'
import { NetworkRefusal } from './network-refusal.ts'
import { ENCODINGS, readBody } from './read-body.ts'

export interface RequestBounds {
  /** Time-out of the whole request, until the last byte of its body. Milliseconds. */
  timeoutMs: number
  /** Largest body, in bytes, packed and unpacked. */
  sizeLimit: number
  /** The signal of the call. */
  signal: AbortSignal
  headers?: Readonly<Record<string, string>>
}

export interface Answer {
  url: URL
  status: number
  statusText: string
  headers: IncomingHttpHeaders
  /** Unpacked. */
  body: Buffer
}

/** @throws NetworkRefusal when it is not let out, or comes to nothing; the reason of `bounds.signal` */
export async function guardedRequest(guard: NetworkGuard, given: string | URL, bounds: RequestBounds): Promise<Answer> {
  const url = guard.demand(given)
  // A worker of which nobody asks for a page starts a tenth of a second earlier.
  const { Agent, request } = await import('undici')
  const late = AbortSignal.timeout(bounds.timeoutMs)
  const signal = AbortSignal.any([bounds.signal, late])
  const dispatcher = new Agent({ connect: { lookup: guard.lookupFor(portOf(url)) } })
  try {
    const answer = await request(url, {
      dispatcher,
      signal,
      headers: { 'user-agent': 'stello-temporal', 'accept-encoding': ENCODINGS, ...bounds.headers },
    })
    const { statusCode: status, statusText, headers } = answer
    const packing = String(headers['content-encoding'] ?? '')
    const body = await readBody(answer.body, { packing, sizeLimit: bounds.sizeLimit, signal })
    return { url, status, statusText, headers, body }
  } catch (error) {
    bounds.signal.throwIfAborted()
    if (error instanceof NetworkRefusal) throw error
    throw late.aborted
      ? new NetworkRefusal('timeout_error', `${url.host} did not answer within ${bounds.timeoutMs / 1000} s.`)
      : new NetworkRefusal('network_error', `Cannot read ${url.host}: ${messageOf(error)}.`)
  } finally {
    await dispatcher.destroy()
  }
}
