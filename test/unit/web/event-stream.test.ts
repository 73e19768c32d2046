/** The stream of events: what is read once, what is asked again, and from where. Requests are answered here. */
import { describe, expect, it } from 'vitest'
import { ApiFailure } from '../../../src/web/server/api-failure.ts'
import { openEventStream, type StreamState } from '../../../src/web/server/event-stream.ts'

type Sent = { id?: string; event: string; data?: object }

const told = (offset: number): Sent => ({
  id: `c${offset}`,
  event: 'turn.completed',
  data: { type: 'turn.completed', sessionId: 's', offset, at: '', cursor: `c${offset}`, data: {} },
})
const live = (text: string): Sent => ({
  id: 'c1',
  event: 'message.delta',
  data: { type: 'message.delta', sessionId: 's', at: '', cursor: 'c1', data: { text } },
})
const end: Sent = { event: 'end' }
const failed: Sent = { event: 'failed', data: { error: { code: 'INTERNAL', message: 'the server failed' } } }
const store = (event: 'away' | 'back'): Sent => ({ event })

/** The bytes of it, in pieces of `size` bytes, so that pieces end in the middle of everything. */
function body(events: readonly Sent[], size = 7): ReadableStream<Uint8Array> {
  const lines = events.map(({ id, event, data }) => {
    return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data ?? {})}\n\n`
  })
  const bytes = new TextEncoder().encode(`: hello\n\n${lines.join('')}`)
  return new ReadableStream({
    start(stream) {
      for (let at = 0; at < bytes.length; at += size) stream.enqueue(bytes.slice(at, at + size))
      stream.close()
    },
  })
}

/** Reads connections until the stream says that it is over. */
async function read(connections: (readonly Sent[] | ApiFailure)[], from?: string) {
  const asked: string[] = []
  const heard: unknown[] = []
  const states: StreamState[] = []
  const rests: number[] = []
  await new Promise<void>((resolve) => {
    openEventStream({
      sessionId: 'a/b',
      ...(from !== undefined && { from }),
      ask: async (path) => {
        asked.push(path)
        const next = connections.shift()
        if (!next || next instanceof ApiFailure) throw next ?? new Error('the test has no more connections')
        return new Response(body(next))
      },
      wait: async (ms) => void rests.push(ms ?? -1),
      onEvent: (event) => heard.push(event.offset ?? event.data),
      onState: (state) => {
        states.push(state)
        if (state.is === 'ended' || state.is === 'refused') resolve()
      },
    })
  })
  return { asked, heard, states, rests }
}

const failure = (status: number): ApiFailure => new ApiFailure(status, { code: 'X', message: 'no' })

/** Rests differ a little from each other. */
const nearest = (ms: number): number => [250, 500, 1000, 2000].find((step) => ms <= step && ms > step * 0.74) ?? ms

describe('the stream of events', () => {
  it('begins at the cursor it is given, and ends where the server says so', async () => {
    const { asked, heard, states } = await read([[told(4), told(5), end]], 'c3')
    expect(asked).toEqual(['api/sessions/a%2Fb/events?from=c3&live=1'])
    expect(heard).toEqual([4, 5])
    expect(states.map(({ is }) => is)).toEqual(['connecting', 'open', 'ended'])
  })

  it('goes on after the last event that it has read, without a gap and without a double', async () => {
    const { asked, heard } = await read([[told(1), told(2)], [told(2), told(3)], [end]])
    expect(asked.map((path) => new URLSearchParams(path.split('?')[1]).get('from'))).toEqual([null, 'c2', 'c3'])
    expect(heard).toEqual([1, 2, 3])
  })

  it('passes live pieces on, each as it comes', async () => {
    const { heard } = await read([[told(1), live('a'), live('a'), end]])
    expect(heard).toEqual([1, { text: 'a' }, { text: 'a' }])
  })

  it('says that a new connection tells what streams anew', async () => {
    const { states } = await read([[told(1)], [end]])
    expect(states).toEqual([
      { is: 'connecting' },
      { is: 'open', fresh: true },
      { is: 'away' },
      { is: 'open', fresh: true },
      { is: 'ended' },
    ])
  })

  it('says when the store of the server is away and back: the connection has lasted, and repeats nothing', async () => {
    const { states } = await read([[store('away'), store('back'), end]])
    expect(states.slice(2)).toEqual([{ is: 'away' }, { is: 'open', fresh: false }, { is: 'ended' }])
  })

  it('asks again after every fault that may pass, and rests longer each time until an event has come', async () => {
    const { heard, rests } = await read([failure(0), failure(503), failure(429), [told(1)], [end]])
    expect(heard).toEqual([1])
    expect(rests.map(nearest)).toEqual([250, 500, 1000, 250])
  })

  it.each([
    ['that is cut at once', []],
    ['that an error ends at once', [failed]],
    ['that repeats what was told and is cut', [told(1)]],
  ])('rests longer each time before a stream %s', async (_, sent) => {
    const { rests } = await read([[told(1)], sent, sent, sent, [end]])
    expect(rests.map(nearest)).toEqual([250, 500, 1000, 2000])
  })

  it.each([401, 403, 404])(
    'gives up when the server answers %i, because another try would not help',
    async (status) => {
      const { states } = await read([failure(status)])
      expect(states.at(-1)).toMatchObject({ is: 'refused', failure: { status } })
    },
  )
})
