/** Limits how much of an answer is read: the client reads a whole message into memory before anybody looks at it. */

const NEWLINE = 10
const RETURN = 13

/**
 * The same response. A reader of more than `limit` bytes gets an error; in a stream of events, the limit holds for each event.
 *
 * @param onBeyond called in that case: the reader of a stream of events might wait for the next event for ever
 * @example limitedBody(await fetch(url), 1024 * 1024, () => connection.close())
 */
export function limitedBody(response: Response, limit: number, onBeyond: (error: Error) => void): Response {
  if (!response.body) return response
  const { status, statusText, headers } = response
  const events = headers.get('content-type')?.includes('event-stream') === true
  let size = 0
  let newlines = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length
      if (events) {
        for (let at = 0; at < chunk.length; at++) {
          const byte = chunk[at]
          if (byte === NEWLINE && ++newlines >= 2) size = chunk.length - at - 1
          else if (byte !== NEWLINE && byte !== RETURN) newlines = 0
        }
      }
      if (size <= limit) return controller.enqueue(chunk)
      const error = new Error(`a message of the server has more than ${limit} bytes`)
      controller.error(error)
      onBeyond(error)
    },
  })
  const limited = new Response(response.body.pipeThrough(counted), { status, statusText, headers })
  // A new response has no address, but its reader may need to know whether there was a redirect.
  return Object.defineProperties(limited, { url: { value: response.url }, redirected: { value: response.redirected } })
}
