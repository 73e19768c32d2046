/**
 * Hostile errors in the headers of a provider, of a tool and of an author's code, with Temporal's own worker: the
 * worker lives, and nothing is asked without end.
 */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { StelloError } from '../../src/core/errors.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { replyBy, scriptedModel, startFakeOpenAI } from '../../src/testing/index.ts'
import { profiles } from '../support/forks.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

it('Retry-After: 1e308 pauses the session, and the worker lives', async () => {
  const fake = await startFakeOpenAI({ script: () => 'hi' })
  try {
    fake.failNext({ status: 429, headers: { 'retry-after': '1e308' } })
    const { taskQueue } = await stello.work({ llm: openai({ model: 'any', baseURL: fake.url }) })
    const [session, other] = await Promise.all([1, 2].map(() => stello.client.createSession({ agent: taskQueue })))
    if (!session || !other) throw new Error('no sessions')
    const turn = await session.send('hello')
    expect((await eventOf(session, 'session.paused')).data).toMatchObject({
      reason: 'model_error',
      message: expect.stringMatching('asks to wait without end') as string,
    })
    expect(await ask(other, 'hello')).toBe('hi')
    await session.resume()
    expect((await turn.result()).text).toBe('hi')
  } finally {
    await fake.close()
  }
})

it('The model reads an error of a pure tool whose cause is circular, and the worker lives', async () => {
  let ran = 0
  const circular = new Error('round and round')
  circular.cause = circular
  const odd = tool('odd', 'Odd', z.object({}), () => (ran++, Promise.reject(circular)), { readOnlyHint: true })
  const llm = scriptedModel(
    replyBy([
      ['go', { toolCalls: [{ name: 'odd' }] }],
      [{ tool: 'odd' }, ({ messages }) => messages.at(-1)?.content ?? ''],
    ]),
  )
  const session = await stello.session({ llm, capabilities: { tools: [odd] } })
  expect(await ask(session, 'go')).toBe('TOOL_EXECUTION_ERROR: tool "odd" failed: round and round')
  expect(ran).toBe(3)
})

/** A `contextFn` whose own model is away, or that returns something that is no JSON. */
function failing(): { asked(): number; p: { contextFn(): Promise<never> } } {
  let asked = 0
  const away = (): Promise<never> => (asked++, Promise.reject(new StelloError('MODEL_UNAVAILABLE', '503')))
  return { asked: () => asked, p: { contextFn: away } }
}

const forkedBy = (profile: string): ReturnType<typeof scriptedModel> =>
  scriptedModel(
    replyBy([
      ['fork', { toolCalls: [{ name: 'stello_create_session', arguments: { label: 'child', profile } }] }],
      [{ tool: 'stello_create_session' }, ({ messages }) => messages.at(-1)?.content ?? ''],
      [() => true, 'hi'],
    ]),
  )

it('A contextFn that meets 503 is asked three times, then the model reads why', async () => {
  const { asked, p } = failing()
  const session = await stello.session({ llm: forkedBy('p'), capabilities: { profiles: profiles({ p }) } })
  expect(await ask(session, 'fork')).toBe('TOOL_EXECUTION_ERROR: contextFn of profile "p" failed: 503')
  expect(asked()).toBe(3)
})

it('A contextFn that meets 503 in a client’s fork is asked three times, then that session pauses; resume asks again', async () => {
  const { asked, p } = failing()
  const parent = await stello.session({ llm: forkedBy('p'), capabilities: { profiles: profiles({ p }) } })
  const fork = await parent.fork({ label: 'fork', profile: 'p' })
  const paused = { reason: 'agent_error', message: 'contextFn of profile "p" failed: 503' }
  expect((await eventOf(fork, 'session.paused')).data).toMatchObject(paused)
  expect(asked()).toBe(3)
  await fork.resume()
  let pauses = 0
  for await (const { type } of fork.watch({ live: false })) if (type === 'session.paused' && ++pauses === 2) break
  expect(asked()).toBe(6)
})

it('A contextFn that returns something that is no JSON is asked once, and the model reads why', async () => {
  let asked = 0
  const p = { contextFn: async () => [{ role: 'user' as const, content: 'a', parts: [BigInt(++asked)] as never }] }
  const session = await stello.session({ llm: forkedBy('p'), capabilities: { profiles: profiles({ p }) } })
  expect(await ask(session, 'fork')).toMatch('TOOL_EXECUTION_ERROR: contextFn of profile "p" failed: "0" is a bigint')
  expect(asked).toBe(1)
})
