/** Events over HTTP: streams that are cut and come back, a store that goes away, and the end of both sides. */
import { expect, it } from 'vitest'
import type { SessionHandle, StelloClient } from '../../src/client/index.ts'
import { connectStello } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { useHttpFace, type Face, type Sent } from '../support/http-face.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const serve = useHttpFace()

const OWN = ['begin', 'end', 'away', 'back', 'failed']
const isEvent = ({ event }: Sent): boolean => !OWN.includes(event)
/** The events of sessions, as `session:offset`. */
const placesOf = (sent: readonly Sent[]): string[] =>
  sent.filter(isEvent).map(({ data }) => `${String(data['sessionId'])}:${String(data['offset'])}`)
const lastId = (sent: readonly Sent[]): string => sent.findLast(({ id }) => id !== undefined)?.id ?? ''
const echo = scriptedModel(({ messages }) => `You said: ${messages.at(-1)?.content}`)

/** Reads a tree over connections that are cut after every `every` events. */
async function readInPieces({ events }: Face, path: string, every: number, total: number): Promise<string[]> {
  const places: string[] = []
  let from = ''
  while (places.length < total) {
    const stream = await events(path, from === '' ? {} : { 'last-event-id': from })
    let left = Math.min(every, total - places.length)
    const seen = await stream.until((sent) => isEvent(sent) && --left === 0)
    await stream.cut()
    places.push(...placesOf(seen))
    from = lastId(seen)
  }
  return places
}

it.each([1, 2, 5])('a stream that is cut after every %i events gives each once, in order', async (every) => {
  const face = await serve(stello.client)
  const session = await stello.session({ llm: echo })
  await ask(session, 'one')
  const child = await session.fork({ label: 'below' })
  await ask(child, 'two')
  await ask(session, 'three')
  const { events } = await session.events({ tree: true })
  const wanted = events.map(({ sessionId, offset }) => `${sessionId}:${offset}`)
  expect(wanted).toHaveLength(10)
  const path = `/sessions/${session.id}/events?tree=1&live=0`
  const places = await readInPieces(face, path, every, wanted.length)
  expect(places.toSorted()).toEqual(wanted.toSorted())
  for (const { id } of [session, child])
    expect(places.filter((place) => place.startsWith(`${id}:`))).toEqual(
      wanted.filter((place) => place.startsWith(`${id}:`)),
    )
})

it('what happens while a stream is cut comes after its cursor, also if the stream began from now and had no event yet', async () => {
  const { events } = await serve(stello.client)
  const session = await stello.session({ llm: echo })
  await ask(session, 'before')
  const path = `/sessions/${session.id}/events?from=now&live=0`
  const first = await events(path)
  const begun = await first.until(({ event }) => event === 'begin')
  await first.cut()
  await ask(session, 'meanwhile')
  const second = await events(path, { 'last-event-id': lastId(begun) })
  const seen = await second.until(({ event }) => event === 'turn.completed')
  expect(seen.filter(isEvent).map(({ event }) => event)).toEqual([
    'turn.started',
    'message.completed',
    'turn.completed',
  ])
  expect(seen.find(({ event }) => event === 'turn.started')?.data).toMatchObject({ data: { text: 'meanwhile' } })
})

it('live pieces come without an id, and not at all with live=0', async () => {
  const gate = createGate()
  const { events } = await serve(stello.client)
  const llm = {
    name: 'slow',
    async complete(
      _messages: unknown,
      { onDelta }: { onDelta?: (delta: { type: 'text'; text: string }) => void } = {},
    ) {
      onDelta?.({ type: 'text', text: 'Half an ' })
      await gate.pass()
      const usage = { inputTokens: 1, outputTokens: 1 }
      return { content: 'Half an answer.', toolCalls: [], usage, finishReason: 'stop' as const }
    },
  }
  const session = await stello.session({ llm })
  const turn = await session.send('go')
  const live = await events(`/sessions/${session.id}/events`)
  const quiet = await events(`/sessions/${session.id}/events?live=0`)
  const delta = (await live.until(({ event }) => event === 'message.delta')).at(-1)
  expect(delta).toMatchObject({ data: { data: { text: 'Half an ' } } })
  expect(delta?.id).toBeUndefined()
  gate.open()
  await turn.result()
  const ended = ({ event }: Sent): boolean => event === 'turn.completed'
  expect((await quiet.until(ended)).filter(isEvent).every(({ id }) => id !== undefined)).toBe(true)
  const { data } = (await live.until(ended)).at(-1) ?? {}
  expect(data).toMatchObject({ type: 'turn.completed', sessionId: session.id, at: expect.stringMatching(/Z$/) })
  expect(data).not.toHaveProperty('cursor')
})

it('a stream ends with `end` when its session is closed and read', async () => {
  const { events } = await serve(stello.client)
  const session = await stello.session({ llm: echo })
  await ask(session, 'hi')
  const stream = await events(`/sessions/${session.id}/events`)
  await session.close()
  const all = await stream.ended()
  expect(all.slice(-2).map(({ event }) => event)).toEqual(['session.closed', 'end'])
  const again = await events(`/sessions/${session.id}/events`, { 'last-event-id': lastId(all) })
  expect((await again.ended()).map(({ event }) => event)).toEqual(['begin', 'end'])
})

it('a stream without events shows that it is alive', async () => {
  const { events } = await serve(stello.client, { keepAliveMs: 10 })
  const { id } = await stello.client.createSession({ agent: 'nobody-serves-it' })
  const stream = await events(`/sessions/${id}/events`)
  await until('some comments', async () => stream.comments() > 2)
})

it('a store that goes away and comes back is reported, and no event is lost', async () => {
  const { proxy, url } = await startProxyBefore(stello.servers.databaseUrl)
  const client = await connectStello({ ...stello.servers, databaseUrl: url })
  try {
    const face = await serve(client)
    const session = await stello.session({ llm: echo })
    await ask(session, 'one')
    const stream = await face.events(`/sessions/${session.id}/events?live=0`)
    await stream.until(({ event }) => event === 'turn.completed')
    proxy.refuse(true)
    proxy.cut()
    const away = (await stream.until(({ event }) => event === 'away')).at(-1)
    expect(away?.data).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } })
    expect(await face.get(`/sessions/${session.id}`)).toMatchObject({
      status: 503,
      body: { error: { code: 'STORE_UNAVAILABLE' } },
    })
    await ask(session, 'two')
    proxy.refuse(false)
    await session.close()
    const all = await stream.ended()
    expect(all.filter(({ event }) => OWN.includes(event)).map(({ event }) => event)).toEqual([
      'begin',
      'away',
      'back',
      'end',
    ])
    expect(placesOf(all)).toEqual(Array.from({ length: 7 }, (_, offset) => `${session.id}:${offset}`))
  } finally {
    proxy.refuse(false)
    await client.close()
    await proxy.close()
  }
})

/** Records which of its watches were left. */
function watched(client: StelloClient): { client: StelloClient; signals: AbortSignal[] } {
  const signals: AbortSignal[] = []
  const session = (id: string): SessionHandle => {
    const handle = client.session(id)
    return {
      ...handle,
      watch: (options) => {
        if (options?.signal) signals.push(options.signal)
        return handle.watch(options)
      },
    }
  }
  return { client: { ...client, session }, signals }
}

it('a reader that leaves ends the watch of its stream', async () => {
  const { client, signals } = watched(stello.client)
  const { events } = await serve(client)
  const { id } = await stello.client.createSession({ agent: 'nobody-serves-it' })
  const stream = await events(`/sessions/${id}/events`)
  await stream.until(({ event }) => event === 'begin')
  await until('the watch', async () => signals.length === 1)
  expect(signals[0]?.aborted).toBe(false)
  await stream.cut()
  await until('its end', async () => signals[0]?.aborted)
})

it('a server that stops ends streams and waits, and leaves its client open', async () => {
  const face = await serve(stello.client)
  const session = await stello.session({ llm: scriptedModel(() => 'hi') })
  const stream = await face.events(`/sessions/${session.id}/events?tree=1`)
  await stream.until(({ event }) => event === 'begin')
  const waiting = face.get(`/sessions/${session.id}/turns/never-sent?wait=60`)
  const outcome = waiting.then(
    ({ status }) => status,
    () => 'cut off',
  )
  // Now the request has arrived.
  await face.get('/agents')
  await face.stop()
  // No `end`, because the reader shall come back.
  expect((await stream.ended()).map(({ event }) => event)).toEqual(['begin'])
  expect([202, 'cut off']).toContain(await outcome)
  await expect(fetch(`${face.url}/api/about`)).rejects.toThrow()
  expect(await ask(session, 'still there?')).toBe('hi')
})

it('a cursor of a big tree fits into a request', async () => {
  const { events, get } = await serve(stello.client)
  const { id } = await stello.client.createSession({ agent: 'nobody-serves-it' })
  const others = Array.from({ length: 1000 }, (_, index) => [`a-session-with-a-long-name-${index}`, index] as const)
  const cursor = JSON.stringify({ [id]: 0, ...Object.fromEntries(others) })
  const stream = await events(`/sessions/${id}/events?tree=1`, { 'last-event-id': cursor })
  expect((await stream.until(({ event }) => event === 'begin')).at(-1)?.id).toBe(cursor)
  const page = await get(`/sessions/${id}/events?from=${encodeURIComponent(cursor)}`, { accept: 'application/json' })
  expect(page).toMatchObject({ status: 200, body: { events: [] } })
})
