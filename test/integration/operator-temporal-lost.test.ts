/** Temporal's database is deleted, or restored from an older copy, while the store is kept. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { quietPort } from '../support/quiet-port.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { startTemporalWith } from '../support/temporal.ts'

let folder: string
let server: { temporalAddress: string; close(): Promise<void> }
const file = (): string => join(folder, 'temporal.db')
const port = (): number => Number(server.temporalAddress.split(':')[1])
/** As on a cluster: the server learns of new search attributes a second after they were registered. */
const AS_A_CLUSTER = ['system.forceSearchAttributesCacheRefreshOnRead=false']

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-temporal-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const stello = useStello(async () => {
  server = await startTemporalWith(AS_A_CLUSTER, { file: file(), port: await quietPort() })
  return { temporalAddress: server.temporalAddress, close: () => server.close() }
})

/** Stops the server, changes its data, and starts it on the same port. */
async function offline(work: () => Promise<void>): Promise<void> {
  const again = port()
  await server.close()
  await work()
  server = await startTemporalWith(AS_A_CLUSTER, { file: file(), port: again })
}

const script = (): ScriptedModel => scriptedModel(({ messages }) => `answer to ${messages.at(-1)?.content}`)
const turnsOf = (texts: string[]): string[] => texts.flatMap((text) => [text, `answer to ${text}`])
const contents = async (session: SessionHandle): Promise<string[]> =>
  (await session.transcript()).map(({ content }) => content)

describe('a Temporal server', () => {
  it('that lost everything: a send says so, and recover goes on from the store', async () => {
    const llm = script()
    const name = `lost-${Date.now()}`
    const worker = await stello.work({ name, llm })
    const session = await stello.client.createSession({ agent: name })
    for (const text of ['one', 'two']) await ask(session, text)
    await worker.stop()
    await offline(() => rm(file()))
    await expect(session.send('three')).rejects.toMatchObject({
      code: 'SESSION_TERMINATED',
      hint: expect.stringContaining(`stello recover ${session.id}`),
    })
    // No worker has registered the search attributes yet, which are lost too.
    expect(await session.recover()).toEqual({ restarted: true, waiting: 0 })
    const { searchAttributes } = await stello.client.temporal.workflow.getHandle(session.id).describe()
    expect(searchAttributes['StelloRoot']).toEqual([session.id])
    await stello.work({ name, llm })
    expect(await ask(session, 'three')).toBe('answer to three')
    expect(await contents(session)).toEqual(turnsOf(['one', 'two', 'three']))
    expect(llm.calls).toHaveLength(3)
  })

  it('that lost everything: a client that was connected before opens new sessions', async () => {
    const name = `new-${Date.now()}`
    const worker = await stello.work({ name, llm: script() })
    await ask(await stello.client.createSession({ agent: name }), 'one')
    await worker.stop()
    await offline(() => rm(file()))
    const session = await stello.client.createSession({ agent: name })
    await stello.work({ name, llm: script() })
    expect(await ask(session, 'two')).toBe('answer to two')
  })

  it('that was restored from an older copy: the session pauses and says why, and recover goes on from the store', async () => {
    const llm = scriptedModel(replyBy([[() => true, ({ messages }) => `answer to ${messages.at(-1)?.content}`]]))
    const name = `older-${Date.now()}`
    const worker = await stello.work({ name, llm })
    const session = await stello.client.createSession({ agent: name })
    await ask(session, 'one')
    await offline(() => copyFile(file(), `${file()}.copy`))
    await ask(session, 'two')
    await ask(session, 'three')
    await worker.stop()
    await offline(() => copyFile(`${file()}.copy`, file()))
    await stello.work({ name, llm })
    const other = await session.send('other')
    await expect(other.result({ onPause: 'throw' })).rejects.toMatchObject({ code: 'SESSION_PAUSED' })
    expect((await session.state()).pause).toMatchObject({
      reason: 'store_error',
      message: expect.stringMatching(
        new RegExp(`session ${session.id}: step m2.0 .*stello recover ${session.id} --restart`),
      ) as string,
    })
    expect(await contents(session)).toEqual(turnsOf(['one', 'two', 'three']))
    expect(await session.recover()).toEqual({ restarted: false, waiting: 0 })
    expect(await session.recover({ restart: true })).toEqual({ restarted: true, waiting: 1 })
    expect((await other.result()).text).toBe('answer to other')
    expect(await contents(session)).toEqual(turnsOf(['one', 'two', 'three', 'other']))
    expect((await session.state()).pause).toBeUndefined()
    await eventOf(session, 'session.restarted')
    expect(llm.calls).toHaveLength(4)
  })

  it('whose run another one has taken over from: everybody who waits is told what to do', async () => {
    const session = await stello.session({ llm: script() })
    await ask(session, 'one')
    await stello.db.pool.query(`update sessions set run_id = 'a later run' where id = $1`, [session.id])
    const turn = await session.send('two')
    await expect(turn.result()).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      hint: expect.stringContaining(`stello recover ${session.id} --restart`),
    })
    await session.recover({ restart: true })
    expect((await turn.result()).text).toBe('answer to two')
  })
})
