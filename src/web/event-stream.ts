/**
 * The events of a session, read with `fetch` because `EventSource` sends no token. It goes on at its cursor after every loss:
 * durable events come in order, each once. Live pieces that were sent meanwhile are lost: `open` with `again` says so.
 */
import { createParser } from 'eventsource-parser'
import { toFailure, type ApiFailure } from './api-failure.ts'
import { apiPath, request } from './api.ts'
import { reportServer, reportStore } from './link-state.ts'
import type { PageEvent } from './wire.ts'

/** How the stream is. `again`: it was away, and live pieces may be missing. */
export type StreamState =
  | { is: 'connecting' }
  | { is: 'open'; again: boolean }
  | { is: 'away' }
  /** The session is closed, and everything was read. */
  | { is: 'ended' }
  /** The server will not serve it: asking again is of no use. */
  | { is: 'refused'; failure: ApiFailure }

/** What is read, and who hears of it. */
export interface StreamOptions {
  sessionId: string
  /** The session and everything below it. */
  tree?: boolean
  /** Go on after this cursor. Unset: from the first event. */
  from?: string
  onEvent(event: PageEvent): void
  onState?(state: StreamState): void
  /** Makes a request. For tests. */
  ask?: (path: string, init: RequestInit) => Promise<Response>
  /** Waits before another try. For tests. */
  rest?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The server sends something every 15 s: a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000
const LONGEST_REST_MS = 8_000

/** Milliseconds before a try. @param failures in a row @example restBefore(0) // 250 */
export function restBefore(failures: number): number {
  return Math.min(LONGEST_REST_MS, 250 * 2 ** failures)
}

/** Starts to read. @returns ends it */
export function openEventStream(options: StreamOptions): () => void {
  const stop = new AbortController()
  void keepReading(options, stop.signal)
  return () => stop.abort()
}

async function keepReading(options: StreamOptions, stop: AbortSignal): Promise<void> {
  const { onState, rest = restFor } = options
  const reader = new Reader(options)
  let failures = 0
  onState?.({ is: 'connecting' })
  while (!stop.aborted) {
    try {
      if ((await reader.read(stop)) === 'ended') return onState?.({ is: 'ended' })
      failures = 0
    } catch (thrown) {
      if (stop.aborted) return
      const failure = toFailure(thrown)
      if (isFinal(failure)) return onState?.({ is: 'refused', failure })
      failures += 1
    }
    if (stop.aborted) return
    onState?.({ is: 'away' })
    reportServer(false)
    await rest(restBefore(failures), stop)
  }
}

/** What another try would not change. Too many requests and trouble of the server pass. */
function isFinal({ status }: ApiFailure): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

/** One stream over all its connections. */
class Reader {
  private cursor: string | undefined
  private opened = false
  private readonly seen = new Map<string, number>()
  private readonly options: StreamOptions

  constructor(options: StreamOptions) {
    this.options = options
    this.cursor = options.from
  }

  /** Reads one connection to its end. */
  async read(stop: AbortSignal): Promise<'ended' | 'cut'> {
    const { sessionId, tree, onState, ask = request } = this.options
    const dead = new AbortController()
    const signal = AbortSignal.any([stop, dead.signal])
    const path = `sessions/${encodeURIComponent(sessionId)}/events`
    const query = { from: this.cursor, live: 1, ...(tree && { tree: 1 }) }
    let silence = setTimeout(() => dead.abort(), SILENCE_MS)
    try {
      const response = await ask(apiPath(path, query), { headers: { accept: 'text/event-stream' }, signal })
      if (!response.body) return 'cut'
      onState?.({ is: 'open', again: this.opened })
      this.opened = true
      reportServer(true)
      let ended = false
      const parser = createParser({
        onEvent: ({ id, event, data }) => {
          if (event === 'end') ended = true
          else if (event === 'begin') this.cursor = id
          else if (event === 'away' || event === 'back') this.storeIs(event)
          else if (event !== 'failed') this.take(JSON.parse(data) as PageEvent, id)
        },
      })
      const chunks = response.body.pipeThrough(new TextDecoderStream()).getReader()
      while (!ended) {
        const { done, value } = await chunks.read()
        if (done) break
        clearTimeout(silence)
        silence = setTimeout(() => dead.abort(), SILENCE_MS)
        parser.feed(value)
      }
      await chunks.cancel().catch(() => undefined)
      return ended ? 'ended' : 'cut'
    } finally {
      clearTimeout(silence)
    }
  }

  /** A durable event that has come before is left out, whatever the server repeats after a cut. */
  private take(event: PageEvent, cursor: string | undefined): void {
    const { sessionId, offset } = event
    if (cursor !== undefined && cursor !== '') this.cursor = cursor
    if (offset !== undefined) {
      if (offset <= (this.seen.get(sessionId) ?? -1)) return
      this.seen.set(sessionId, offset)
    }
    this.options.onEvent(event)
  }

  private storeIs(said: 'away' | 'back'): void {
    reportStore(said === 'back')
    this.options.onState?.(said === 'back' ? { is: 'open', again: true } : { is: 'away' })
  }
}

function restFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
