/**
 * The `fetch` that sends requests to a provider's server. It limits the size of answers. The client reads an error, a
 * whole answer, and each event of a stream into memory, so an endless one would fill the worker's memory before anybody
 * looks at it. If a server redirects to another server, the conversation is not sent there.
 */
import { StelloError } from '../core/errors.ts'

/** More than the longest answer that is accepted, with every character escaped. */
const ANSWER_BYTES: number = 32 * 1024 * 1024
const EVENT_BYTES: number = 4 * 1024 * 1024
/**
 * A server may send without end what is neither text nor call, e.g. encrypted reasoning. Real streams take a few
 * hundred bytes for each token.
 */
const STREAM_BYTES: number = 256 * 1024 * 1024
/** Only a few hundred characters of an error are shown. */
const ERROR_LIMIT: number = 64 * 1024
const [NEWLINE, RETURN] = [10, 13]
/** The redirects that keep the method and the body of the request. */
const SAME_REQUEST: readonly number[] = [307, 308]
const MOST_REDIRECTS = 5

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * `fetch` for a model.
 *
 * @param onAlive called when the request is sent, when the answer begins, and for each chunk of its bytes. A chunk may
 *   be nothing but a comment of an event stream
 * @returns a response whose size is limited. The body of an error is cut after 64 KiB. An answer beyond 32 MiB, an
 *   event of a stream beyond 4 MiB, and a stream beyond 256 MiB reject with StelloError MODEL_BAD_ANSWER when they are
 *   read. Both the cut and the rejection end the connection. A stream is handed on in whole events. Some clients search
 *   the whole event again with every piece of it; this way they search it once.
 * @throws StelloError MODEL_REFUSED_REQUEST when the server redirects to another one
 */
export function limitedFetch(onAlive: () => void = () => undefined): Fetch {
  return async (input, init) => {
    onAlive()
    const response = await fetchThere(input, init)
    onAlive()
    if (!response.body) return response
    const { status, statusText, headers } = response
    const isStream = headers.get('content-type')?.includes('event-stream') === true
    const limited = response.body.pipeThrough(
      !response.ok ? cutBehind(ERROR_LIMIT, onAlive) : isStream ? wholeEvents(onAlive) : refuseBeyond(onAlive),
    )
    return new Response(limited, { status, statusText, headers })
  }
}

/**
 * Follows only redirects to the same server that keep the request. A plain `fetch` follows to another server too, and
 * then drops only some headers: it keeps the header of Azure's key and your own headers.
 */
async function fetchThere(input: Parameters<Fetch>[0], init?: RequestInit, followed = 0): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  const { status, headers, body } = response
  const location = status >= 300 && status < 400 ? headers.get('location') : null
  if (location === null) return response
  await body?.cancel()
  const asked = new URL(input instanceof Request ? input.url : input)
  const to = URL.canParse(location, asked.href) ? new URL(location, asked) : undefined
  const follows = to?.origin === asked.origin && SAME_REQUEST.includes(status) && followed < MOST_REDIRECTS
  if (follows) return fetchThere(to.href, init, followed + 1)
  throw new StelloError(
    'MODEL_REFUSED_REQUEST',
    `${asked.host} redirects to ${to?.origin ?? 'no address'} (status ${status}), and neither the key nor the conversation is sent on`,
    { hint: 'correct the base URL, restart the worker, then resume the session' },
  )
}

function refuseBeyond(onAlive: () => void): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      onAlive()
      size += chunk.length
      if (size > ANSWER_BYTES) controller.error(tooLong('the answer', ANSWER_BYTES))
      else controller.enqueue(chunk)
    },
  })
}

/** Holds back what stands behind the last empty line: its event has not ended, so nobody can read it yet. */
function wholeEvents(onAlive: () => void): TransformStream<Uint8Array, Uint8Array> {
  let held: Uint8Array[] = []
  let size = 0
  let total = 0
  let newlines = 0
  return new TransformStream({
    transform(chunk, controller) {
      onAlive()
      total += chunk.length
      let end = 0
      // A loop over `entries` takes eight times as long.
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i]
        if (byte === NEWLINE && ++newlines >= 2) end = i + 1
        else if (byte !== NEWLINE && byte !== RETURN) newlines = 0
      }
      if (end > 0) {
        held.push(chunk.subarray(0, end))
        controller.enqueue(Buffer.concat(held))
        held = []
        size = 0
      }
      if (end < chunk.length) held.push(chunk.subarray(end))
      size += chunk.length - end
      if (size > EVENT_BYTES) controller.error(tooLong('an event of the answer', EVENT_BYTES))
      else if (total > STREAM_BYTES) controller.error(tooLong('the stream of the answer', STREAM_BYTES))
    },
    flush(controller) {
      if (held.length > 0) controller.enqueue(Buffer.concat(held))
    },
  })
}

function tooLong(what: string, limit: number): StelloError {
  return new StelloError('MODEL_BAD_ANSWER', `${what} has more than ${limit} bytes`, {
    hint: 'look at the server behind the base URL, then resume the session',
  })
}

function cutBehind(limit: number, onAlive: () => void): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      onAlive()
      controller.enqueue(chunk.subarray(0, limit - size))
      size += chunk.length
      if (size >= limit) controller.terminate()
    },
  })
}
