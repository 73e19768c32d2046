/** Nothing new starts while a session is paused. A step that failed goes on from where it was. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { openai } from '../../src/models/openai/openai.ts'
import {
  replyBy,
  scriptedModel,
  startFakeOpenAI,
  type FakeOpenAI,
  type FakeServerOptions,
} from '../../src/testing/index.ts'
import { createGate } from '../support/gate.ts'
import { ask, eventsUntil, eventOf, useStello } from '../support/session-fixture.ts'
import { viewOf } from '../support/settled.ts'

const stello = useStello()
const servers: FakeOpenAI[] = []

afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function startFake(options: FakeServerOptions): Promise<FakeOpenAI> {
  const server = await startFakeOpenAI(options)
  servers.push(server)
  return server
}

describe('pause', () => {
  it('lets the running step end and starts nothing new until resume', async () => {
    const gate = createGate()
    const wait = tool('wait', 'Waits', z.object({}), async () => {
      await gate.pass()
      return 'waited'
    })
    const llm = scriptedModel(
      replyBy([
        ['go', { toolCalls: [{ name: 'wait' }] }],
        [{ tool: 'wait' }, 'done'],
      ]),
    )
    const session = await stello.session({ llm, capabilities: { tools: [wait] } })
    const turn = await session.send('go')
    await gate.reached()
    await session.pause('lunch')
    await eventOf(session, 'session.paused')
    expect((await session.state()).pause).toEqual({ reason: 'user', message: 'lunch' })
    gate.open()
    await eventOf(session, 'tool.status')
    const view = await viewOf(stello.client, session, ({ turn: at }) => at?.phase === 'model')
    expect(view).toMatchObject({ status: 'paused', turn: { n: 1, round: 1 } })
    expect(llm.calls).toHaveLength(1)
    await session.resume()
    expect((await turn.result()).text).toBe('done')
    expect((await session.state()).state).toBe('idle')
  })

  it('holds back messages that come meanwhile, and resume answers them in order', async () => {
    const session = await stello.session({ llm: scriptedModel(({ messages }) => `to ${messages.at(-1)?.content}`) })
    await session.pause()
    const turns = [await session.send('one'), await session.send('two')]
    expect(await viewOf(stello.client, session, ({ queued }) => queued === 2)).toMatchObject({
      status: 'paused',
      turns: 0,
    })
    await session.resume()
    expect(await Promise.all(turns.map(async (turn) => (await turn.result()).text))).toEqual(['to one', 'to two'])
  })
})

describe('resume', () => {
  it('that the store has lost, because an older copy took its place, is told once more', async () => {
    const session = await stello.session({ llm: scriptedModel(({ messages }) => `to ${messages.at(-1)?.content}`) })
    await ask(session, 'one')
    await stello.db.pool.query('update sessions set pause = $2 where id = $1', [
      session.id,
      { reason: 'user', message: 'lunch' },
    ])
    expect(await ask(session, 'two')).toBe('to two')
    await eventOf(session, 'session.resumed')
    expect((await session.state()).state).toBe('idle')
  })
})

describe('a model that fails', () => {
  it('with a wrong key pauses the session with the reason; resume goes on with the same turn', async () => {
    const fake = await startFake({ script: ['Hello.'], apiKey: 'right' })
    vi.stubEnv('OPENAI_API_KEY', 'wrong')
    const session = await stello.session({ llm: openai({ model: 'm', baseURL: fake.url }) })
    const turn = await session.send('Hi')
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
      hint: expect.stringMatching(/OPENAI_API_KEY.*stello resume/s) as string,
    })
    const { state, pause } = await session.state()
    expect([state, pause?.reason]).toEqual(['paused', 'model_error'])
    expect(JSON.stringify(pause)).not.toContain('wrong')
    expect(fake.requests).toHaveLength(1)
    vi.stubEnv('OPENAI_API_KEY', 'right')
    await session.resume()
    expect((await turn.result()).text).toBe('Hello.')
    expect(await session.state()).toMatchObject({ state: 'idle', turns: 1, records: 2 })
  })

  it('with 429 is asked again after its Retry-After, and the session is not paused', async () => {
    const fake = await startFake({ script: ['Hello.'] })
    fake.failNext({ status: 429, headers: { 'retry-after': '1' } })
    const session = await stello.session({ llm: openai({ model: 'm', baseURL: fake.url }) })
    const turn = await session.send('Hi')
    await fake.requested(1)
    const refused = performance.now()
    await fake.requested(2)
    // The server that waits has another clock.
    expect(performance.now() - refused).toBeGreaterThan(900)
    expect((await turn.result()).text).toBe('Hello.')
    const types = (await eventsUntil(session, ({ type }) => type === 'turn.completed')).map(({ type }) => type)
    expect(types).toEqual(['turn.started', 'message.completed', 'turn.completed'])
  })

  it('with 500 a few times is asked until it answers', async () => {
    const fake = await startFake({ script: ['Hello.'] })
    fake.failNext({ status: 500, times: 2 })
    const session = await stello.session({ llm: openai({ model: 'm', baseURL: fake.url }) })
    expect(await ask(session, 'Hi')).toBe('Hello.')
    expect(fake.requests).toHaveLength(3)
  })

  it('in the middle of its answer is asked again, and its half answer is stored nowhere', async () => {
    const fake = await startFake({ script: () => 'A longer answer of many words.' })
    fake.dropNext({ afterBytes: 400 })
    const session = await stello.session({ llm: openai({ model: 'm', baseURL: fake.url }) })
    expect(await ask(session, 'Hi')).toBe('A longer answer of many words.')
    expect((await session.transcript()).map(({ content }) => content)).toEqual(['Hi', 'A longer answer of many words.'])
    expect(fake.requests).toHaveLength(2)
  })
})
