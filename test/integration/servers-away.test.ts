/**
 * A caller that waits for an answer keeps waiting while a server is away for a short time, because the turn goes on
 * too.
 */
import { afterEach, expect, it } from 'vitest'
import { connectStello, type StelloClient } from '../../src/client/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { useStello } from '../support/session-fixture.ts'
import { startProxyBefore, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const stello = useStello()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Far {
  client: StelloClient
  store: TcpProxy
  temporal: TcpProxy
}

/** A client that can be cut off from its servers. */
async function far(): Promise<Far> {
  const { proxy: store, url } = await startProxyBefore(stello.servers.databaseUrl)
  const temporal = await startTcpProxy(stello.servers.temporalAddress)
  const client = await connectStello({ databaseUrl: url, temporalAddress: temporal.address })
  closing.push(async () => {
    for (const proxy of [store, temporal]) proxy.refuse(false)
    await client.close()
    await Promise.all([store.close(), temporal.close()])
  })
  return { client, store, temporal }
}

/** A turn whose model answers when the gate opens, and the id of its session. */
async function running(): Promise<{ id: string; gate: Gate }> {
  const gate = createGate()
  const session = await stello.session({ llm: scriptedModel(() => gate.pass().then(() => 'answered')) })
  await session.send('go', { messageId: 'm' })
  await gate.reached()
  return { id: session.id, gate }
}

it('PostgreSQL', async () => {
  const [{ client, store }, { id, gate }] = [await far(), await running()]
  store.refuse(true)
  store.cut()
  const answer = client.session(id).turn('m').result()
  answer.catch(() => undefined)
  await expect(client.session(id).state()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  gate.open()
  store.refuse(false)
  expect((await answer).text).toBe('answered')
})

it('PostgreSQL, for a watcher: nothing is missed, and the absence is told once', async () => {
  const [{ client, store }, { id, gate }] = [await far(), await running()]
  const away: string[] = []
  const seen: (number | undefined)[] = []
  const watching = (async () => {
    for await (const { type, offset } of client.session(id).watch({
      live: false,
      onAway: ({ code }) => void away.push(code),
    })) {
      seen.push(offset)
      if (type === 'turn.completed') return
    }
  })()
  await until('the beginning is seen', async () => seen.length > 0)
  store.refuse(true)
  store.cut()
  await until('the watcher is refused more than once', async () => store.refusals() > 3)
  gate.open()
  await stello.client.session(id).turn('m').result()
  store.refuse(false)
  await watching
  expect(seen).toEqual(seen.map((_, n) => n))
  expect(away).toEqual(['STORE_UNAVAILABLE'])
})

it('Temporal', async () => {
  const [{ client, temporal }, { id, gate }] = [await far(), await running()]
  temporal.refuse(true)
  temporal.cut()
  const answer = client.session(id).turn('m').result()
  answer.catch(() => undefined)
  await until('somebody asks Temporal whether the session lives', async () => temporal.refusals() > 0)
  gate.open()
  expect((await answer).text).toBe('answered')
})
