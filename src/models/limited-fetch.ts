/**
 * Limits the bodies of a provider's answers. The client reads an error, a whole answer, and each event of a stream into
 * memory: an endless one would fill the worker's memory before anybody looks at it.
 */
import { StelloError } from '../core/errors.ts'

/** More than the longest answer that is accepted, with every character escaped. */
const ANSWER_BYTES: number = 32 * 1024 * 1024
/** With every piece that arrives, the client searches the whole event for its end. */
const EVENT_BYTES: number = 4 * 1024 * 1024
/** Only some hundred characters of an error are shown. */
const ERROR_LIMIT: number = 64 * 1024
const [NEWLINE, RETURN] = [10, 13]

/**
 * `fetch` for one model.
 *
 * @param onAlive called when the request is sent, when the answer begins, and for each chunk of its bytes, which may be
 *   no more than a comment of an event stream
 * @returns an error's body is cut; reading an answer beyond 32 MiB, or an event of a stream beyond 4 MiB, rejects with
 * StelloError MODEL_BAD_ANSWER. Both end the connection.
 */
export function limitedFetch(model: string, onAlive: () => void = () => undefined): typeof fetch {
  return async (input, init) => {
    onAlive()
    const response = await fetch(input, init)
    onAlive()
    if (!response.body) return response
    const { status, statusText, headers } = response
    const isStream = headers.get('content-type')?.includes('event-stream') === true
    const limited = response.body.pipeThrough(
      response.ok ? refuseBeyond(model, isStream, onAlive) : cutBehind(ERROR_LIMIT, onAlive),
    )
    return new Response(limited, { status, statusText, headers })
  }
}

/** @param byEvent the limit holds for each event, else for the whole body */
function refuseBeyond(model: string, byEvent: boolean, onAlive: () => void): TransformStream<Uint8Array, Uint8Array> {
  const [limit, unit] = byEvent ? [EVENT_BYTES, 'an event of the answer'] : [ANSWER_BYTES, 'the answer']
  let size = 0
  let newlines = 0
  return new TransformStream({
    transform(chunk, controller) {
      onAlive()
      size += chunk.length
      if (byEvent) {
        // An empty line ends an event. A loop over `entries` takes eight times as long.
        for (let i = 0; i < chunk.length; i++) {
          const byte = chunk[i]
          if (byte === NEWLINE && ++newlines >= 2) size = chunk.length - 1 - i
          else if (byte !== NEWLINE && byte !== RETURN) newlines = 0
        }
      }
      if (size <= limit) return controller.enqueue(chunk)
      controller.error(
        new StelloError('MODEL_BAD_ANSWER', `model ${model}: ${unit} has more than ${limit} bytes`, {
          hint: 'look at the server behind the base URL, then resume the session',
        }),
      )
    },
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
