/** A session that paused for a reason that may pass tries again by itself, as the agent allows. */
import { expect, it, vi } from 'vitest'
import { StelloError } from '../../src/core/errors.ts'
import type { Message } from '../../src/core/message.ts'
import type { Completion } from '../../src/core/model.ts'
import type { SessionHandle, StelloEvent } from '../../src/client/index.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { replyBy, scriptedModel, startFakeOpenAI } from '../../src/testing/index.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { eventOf, eventsUntil, useStello } from '../support/session-fixture.ts'

const stello = useStello()
const ONCE = { retries: { model: { attempts: 1 } } } as const
const SOON = { first: 100, longest: 300 } as const

/** A provider that is away until the gate is open. Each request to it passes the gate. */
function away(back: Gate): { complete(messages: Message[]): Promise<Completion>; asked(): number } {
  let asked = 0
  const isBack = { yes: false }
  void back.opened.then(() => (isBack.yes = true))
  return {
    asked: () => asked,
    async complete(messages) {
      asked++
      void back.pass()
      if (!isBack.yes) throw new StelloError('MODEL_UNAVAILABLE', 'the provider is away')
      const usage = { inputTokens: 1, outputTokens: 1 }
      const content = `to ${messages.at(-1)?.content}`
      return { content, toolCalls: [], usage, finishReason: 'stop' }
    },
  }
}

const typesOf = (events: readonly StelloEvent[]): string[] =>
  events.filter(({ type }) => type.startsWith('session.')).map(({ type }) => type)

it('asks a provider that is away once per try, and goes on when it is back', async () => {
  const back = createGate()
  const llm = away(back)
  const session = await stello.session({ llm, ...ONCE, autoResume: SOON })
  const turn = await session.send('hello')
  const paused = await eventOf(session, 'session.paused')
  expect(paused.data).toMatchObject({ reason: 'model_error', clears: 'weather', nextTryAt: expect.any(String) })
  await back.reached(3)
  back.open()
  expect((await turn.result()).text).toBe('to hello')
  const events = await eventsUntil(session, ({ type }) => type === 'turn.completed')
  const switches = typesOf(events)
  expect(switches).toEqual(switches.map((_, i) => (i % 2 === 0 ? 'session.paused' : 'session.resumed')))
  expect(llm.asked()).toBe(1 + switches.length / 2)
  const tries = events.flatMap(({ type, data }) => (type === 'session.resumed' ? [data.tries] : []))
  expect(tries).toEqual(tries.map((_, i) => i + 1))
  expect(await session.state()).toMatchObject({ state: 'idle', turns: 1 })
})

it('leaves a session alone that a person has paused meanwhile', async () => {
  const back = createGate()
  const session = await stello.session({ llm: away(back), ...ONCE, autoResume: { first: 500, longest: 500 } })
  const turn = await session.send('hello')
  await back.reached(1)
  await session.pause('look at it first')
  await eventsUntil(session, ({ type, data }) => type === 'session.paused' && data.reason === 'user')
  back.open()
  const state = await session.state()
  expect(state).toMatchObject({ state: 'paused', pause: { reason: 'user' } })
  expect(state.pause).not.toHaveProperty('nextTryAt')
  await session.resume()
  expect((await turn.result()).text).toBe('to hello')
})

it.each([
  ['a key that was refused, unless the agent says so', undefined],
  ['anything, if the agent says so', false],
])('does not try again for %s', async (_what, autoResume) => {
  const complete = (): Promise<never> => Promise.reject(new StelloError('MODEL_AUTH', 'who are you?'))
  const session = await stello.session({ llm: { complete }, ...(autoResume !== undefined && { autoResume }) })
  await session.send('hello')
  const { data } = await eventOf(session, 'session.paused')
  expect(data).not.toHaveProperty('nextTryAt')
})

it('goes on with a key that works again, where the agent allows it', async () => {
  const fake = await startFakeOpenAI({ script: ['Hello.'], apiKey: 'right' })
  vi.stubEnv('OPENAI_API_KEY', 'wrong')
  const llm = openai({ model: 'm', baseURL: fake.url })
  const session = await stello.session({ llm, autoResume: { keys: true, ...SOON } })
  const turn = await session.send('Hi')
  await eventOf(session, 'session.paused')
  vi.stubEnv('OPENAI_API_KEY', 'right')
  expect((await turn.result()).text).toBe('Hello.')
  vi.unstubAllEnvs()
  await fake.close()
})

it('brings back a tree whose sessions have paused one after another', async () => {
  const back = createGate()
  const below = away(back)
  const task = { toolCalls: [{ name: 'new_task', arguments: { label: 'part', message: 'deep' } }] }
  const scripted = scriptedModel(
    replyBy([
      ['go', task],
      [() => true, 'done'],
    ]),
  )
  const llm = {
    name: 'both',
    complete: (messages: Message[], options: object) =>
      messages.at(-1)?.content === 'deep' ? below.complete(messages) : scripted.complete(messages, options),
  }
  const session: SessionHandle = await stello.session({ llm, systemTools: true, ...ONCE, autoResume: SOON })
  const turn = await session.send('go')
  await back.reached(2)
  back.open()
  expect((await turn.result()).text).toBe('done')
})

it('resumes the whole tree at once when a person says so', async () => {
  const back = createGate()
  const llm = away(back)
  const session = await stello.session({ llm, ...ONCE })
  const fork = await session.fork({ label: 'aside' })
  const turns = [await session.send('one'), await fork.send('two')]
  await Promise.all([session, fork].map((one) => eventOf(one, 'session.paused')))
  back.open()
  expect(await session.resume({ tree: true })).toMatchObject({ sessions: 2, lost: [] })
  expect(await Promise.all(turns.map(async (turn) => (await turn.result()).text))).toEqual(['to one', 'to two'])
})
