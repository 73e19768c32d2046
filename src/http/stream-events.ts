/**
 * Server-sent events. The id of an event is the cursor after it, so a client that comes back with the last id gets
 * neither a gap nor a repetition. What streams has no id: the record that it ends in has one.
 *
 * Beside the events of sessions: `begin` (its id is the cursor that the stream begins at), `away` and `back` (the store),
 * `end` (the session is closed, nothing follows), `failed` (an error ends the stream).
 */
import type { Context } from 'hono'
import { streamSSE, type SSEMessage, type SSEStreamingApi } from 'hono/streaming'
import type { SessionHandle, WatchOptions } from '../client/index.ts'
import type { RouteContext } from './add-route.ts'
import { toHttpError } from './http-error.ts'
import { toWire } from './wire-event.ts'

/** The events that are streamed: of a session, from a cursor on. */
export interface Streamed extends Required<Pick<WatchOptions, 'tree' | 'live'>> {
  session: SessionHandle
  from: string
}

export function streamEvents(
  c: Context,
  { session, ...options }: Streamed,
  { stopping, keepAliveMs, report }: Pick<RouteContext, 'stopping' | 'keepAliveMs' | 'report'>,
): Response {
  return streamSSE(c, async (stream) => {
    const left = new AbortController()
    stream.onAbort(() => left.abort())
    const signal = AbortSignal.any([left.signal, stopping])
    const alive = keepAlive(stream, keepAliveMs)
    const send = (event: string, data: unknown, id?: string): Promise<void> =>
      stream.writeSSE({ event, data: JSON.stringify(data), ...(id !== undefined && { id }) } satisfies SSEMessage)
    try {
      await send('begin', {}, options.from)
      const watching = session.watch({
        ...options,
        signal,
        onAway: (error) => void send('away', toHttpError(error).body),
        onBack: () => void send('back', {}),
      })
      for await (const event of watching) {
        await send(event.type, toWire(event), event.offset === undefined ? undefined : event.cursor)
      }
      if (!signal.aborted) await send('end', {})
    } catch (error) {
      const { status, body } = toHttpError(error)
      if (status === 500) report(error)
      await send('failed', body)
    } finally {
      clearInterval(alive)
    }
  })
}

/** A proxy may end a connection on which nothing comes; a reader that is gone is noticed by writing to it. */
function keepAlive(stream: SSEStreamingApi, everyMs: number): NodeJS.Timeout {
  let written = Promise.resolve<unknown>(undefined)
  let waits = false
  return setInterval(() => {
    if (waits) return
    waits = true
    written = stream.write(': still here\n\n').finally(() => (waits = false))
    void written
  }, everyMs)
}
