/**
 * The events of a session, read with `fetch` because `EventSource` sends no token. It goes on at its cursor after every loss:
 * durable events come in order, each once. It holds no connection while nobody sees the page.
 */
import { createParser } from 'eventsource-parser'
import { ApiFailure, AWAY, toFailure } from './api-failure.ts'
import { apiPath, request } from './api.ts'
import { isSeen, nextTurn } from './attention.ts'
import { reportServer, reportStore } from './link-state.ts'
import { rest } from './rest.ts'
import { createTries, isFinal, type Tries } from './tries.ts'
import type { PageEvent } from './wire.ts'

/** How the stream is. `fresh`: the connection is new, and tells what streams from its beginning. */
export type StreamState =
  | { is: 'connecting' }
  | { is: 'open'; fresh: boolean }
  | { is: 'away' }
  /** The session is closed, and everything was read. */
  | { is: 'ended' }
  /** The server will not serve it: asking again is useless. */
  | { is: 'refused'; failure: ApiFailure }

/** The events to read, and the functions that hear of them. */
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
  wait?: typeof rest
}

/** The server sends something every 15 s: a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000

/** Starts to read. @returns ends it */
export function openEventStream(options: StreamOptions): () => void {
  const stop = new AbortController()
  void keepReading(options, stop.signal)
  return () => stop.abort()
}

async function keepReading(options: StreamOptions, stop: AbortSignal): Promise<void> {
  const { onState } = options
  const tries = createTries(stop, options.wait)
  const reader = new Reader(options, tries)
  onState?.({ is: 'connecting' })
  while (!stop.aborted) {
    while (!isSeen() && !stop.aborted) await rest(undefined, stop, nextTurn())
    const hidden = nextTurn()
    try {
      if ((await reader.read(AbortSignal.any([stop, hidden]))) === 'ended') return onState?.({ is: 'ended' })
      throw new ApiFailure(0, { code: AWAY, message: 'the connection was cut' })
    } catch (thrown) {
      if (stop.aborted) return
      if (hidden.aborted) continue
      const failure = toFailure(thrown)
      if (isFinal(failure)) return onState?.({ is: 'refused', failure })
      onState?.({ is: 'away' })
      if (failure.status === 0) reportServer(false)
      await tries.failed(failure)
    }
  }
}

/** One stream over all its connections. */
class Reader {
  private cursor: string | undefined
  private readonly seen = new Map<string, number>()
  private readonly options: StreamOptions
  private readonly tries: Tries

  constructor(options: StreamOptions, tries: Tries) {
    this.options = options
    this.tries = tries
    this.cursor = options.from
  }

  /** Reads one connection to its end. @throws ApiFailure */
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
      onState?.({ is: 'open', fresh: true })
      this.tries.works()
      reportServer(true)
      let ended = false
      let failure: ApiFailure | undefined
      const parser = createParser({
        onEvent: ({ id, event, data }) => {
          if (event === 'end') ended = true
          else if (event === 'begin') this.cursor = id
          else if (event === 'away' || event === 'back') this.storeIs(event)
          else if (event === 'failed') failure = failureOf(data)
          else this.take(JSON.parse(data) as PageEvent, id)
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
      if (failure) throw failure
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
      this.tries.works(true)
    }
    this.options.onEvent(event)
  }

  /** The connection has lasted: the server leaves out nothing, and repeats nothing of what streams. */
  private storeIs(said: 'away' | 'back'): void {
    reportStore(said === 'back')
    this.options.onState?.(said === 'back' ? { is: 'open', fresh: false } : { is: 'away' })
  }
}

/** An error has ended the stream. Its status says that another try may help. */
function failureOf(data: string): ApiFailure {
  const { error } = JSON.parse(data) as { error: { code: string; message: string; hint?: string } }
  return new ApiFailure(500, error)
}
