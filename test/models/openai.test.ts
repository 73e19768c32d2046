/**
 * Our client on a real HTTP server. Single answers and errors are tested in answer.test.ts and model-error.test.ts, the
 * settings of Claude in claude-requests.test.ts.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { withoutSecrets } from '../../src/core/secrets.ts'
import { openai } from '../../src/models/openai/openai.ts'
import {
  scriptedModel,
  startFakeOpenAI,
  type FakeOpenAI,
  type FakeServerOptions,
  type Script,
} from '../../src/testing/index.ts'
import { modelContract } from './model-contract.ts'

const HELLO: Message[] = [{ role: 'user', content: 'hello' }]
const KEY = 'sk-0123456789'
const onDelta = (): void => {}

const open: FakeOpenAI[] = []

async function start(options: FakeServerOptions = { script: () => 'Hello to you.' }): Promise<FakeOpenAI> {
  const fake = await startFakeOpenAI(options)
  open.push(fake)
  return fake
}

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined)
  vi.stubEnv('OPENAI_BASE_URL', undefined)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(open.splice(0).map((fake) => fake.close()))
})

const overHttp = async (script: Script): Promise<ReturnType<typeof openai>> =>
  openai({ model: 'any', baseURL: (await start({ script })).url, apiKey: KEY })

modelContract('openai in JSON', overHttp, { streaming: false })
modelContract('openai as a stream', overHttp, { streaming: true })
modelContract('scriptedModel', async (script) => scriptedModel(script), { streaming: true })
modelContract('scriptedModel without a listener', async (script) => scriptedModel(script), { streaming: false })

describe('where openai asks', () => {
  it('reads base URL and key when it is called, not when it is made', async () => {
    const fake = await start({ script: () => 'Hello.', apiKey: KEY })
    const model = openai({ model: 'any' })
    vi.stubEnv('OPENAI_BASE_URL', fake.url)
    vi.stubEnv('OPENAI_API_KEY', KEY)
    expect(await model.complete(HELLO)).toMatchObject({ content: 'Hello.' })
  })

  it('prefers its options to the environment', async () => {
    const fake = await start({ script: () => 'Hello.', apiKey: KEY })
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:1/v1')
    vi.stubEnv('OPENAI_API_KEY', 'wrong')
    expect(await openai({ model: 'any', baseURL: fake.url, apiKey: KEY }).complete(HELLO)).toMatchObject({
      content: 'Hello.',
    })
  })

  it('needs no key for a server of your own', async () => {
    vi.stubEnv('OPENAI_BASE_URL', (await start()).url)
    expect(await openai({ model: 'any' }).complete(HELLO)).toMatchObject({ content: 'Hello to you.' })
  })

  it('says which variable is missing when there is no key', async () => {
    await expect(openai({ model: 'gpt-5-mini' }).complete(HELLO)).rejects.toMatchObject({
      code: 'MODEL_AUTH',
      fate: 'pause',
      hint: expect.stringContaining('OPENAI_API_KEY') as string,
    })
  })

  it('sends its settings with each request', async () => {
    const fake = await start()
    const options = {
      model: 'any',
      baseURL: fake.url,
      temperature: 0.2,
      maxTokens: 50,
      headers: { 'x-team': 'research' },
    }
    await openai(options).complete(HELLO)
    expect(fake.requests[0]).toMatchObject({
      body: { model: 'any', temperature: 0.2, max_tokens: 50 },
      headers: { 'x-team': 'research' },
    })
  })

  it('adds the cost where prices are known', async () => {
    const usage = { inputTokens: 1000, outputTokens: 100, cachedTokens: 400 }
    const { url } = await start({ script: [{ content: 'Hello.', usage }] })
    const model = openai({ model: 'any', baseURL: url, prices: { input: 1, output: 10, cachedInput: 0.5 } })
    expect((await model.complete(HELLO)).usage).toEqual({ ...usage, costUsd: expect.closeTo(0.0018, 9) as number })
  })
})

describe.each([
  ['JSON', {}],
  ['a stream', { onDelta }],
])('openai in trouble, in %s', (_, options) => {
  it('asks once: repeating is the task of others', async () => {
    const fake = await start()
    fake.failNext({ status: 503 })
    await expect(openai({ model: 'any', baseURL: fake.url }).complete(HELLO, options)).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    })
    expect(fake.requests).toHaveLength(1)
  })

  it('is told its key is wrong, and does not repeat it', async () => {
    const fake = await start({ script: () => 'Hello.', apiKey: KEY })
    const error: unknown = await openai({ model: 'any', baseURL: fake.url, apiKey: 'sk-wrong-wrong' })
      .complete(HELLO, options)
      .catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'MODEL_AUTH', hint: expect.stringContaining('OPENAI_API_KEY') as string })
    expect(JSON.stringify([String(error), error])).not.toContain('sk-wrong-wrong')
  })

  it('is told what was wrong with its headers, and does not repeat them', async () => {
    const fake = await start()
    const headers = {
      authorization: 'Basic bWU6Z2VoZWlt',
      cookie: 'id=of-my-session; theme=dark',
      'x-tenant': 'a tenant of ours',
    }
    const told = 'bWU6Z2VoZWlt, of-my-session and a tenant of ours are unknown; tenant is a word'
    fake.failNext({ status: 400, body: { error: { message: told } } })
    await expect(openai({ model: 'any', baseURL: fake.url, headers }).complete(HELLO, options)).rejects.toMatchObject({
      message: 'model any: 400 (secret), (secret) and (secret) are unknown; tenant is a word',
    })
    expect(withoutSecrets(told)).toBe('(secret), (secret) and a tenant of ours are unknown; tenant is a word')
  })

  it.each(['https://me:geheim@host/v1', 'https://geheim@host/v1', 'https://:geheim@host/v1'])(
    'refuses %s, which would be shown where a base URL is',
    async (baseURL) => {
      const error: unknown = await openai({ model: 'any', baseURL, apiKey: KEY })
        .complete(HELLO, options)
        .catch((e: unknown) => e)
      expect(error).toMatchObject({
        code: 'MODEL_REFUSED_REQUEST',
        message: 'model any: the base URL of host holds a user or password',
      })
      expect(JSON.stringify([String(error), error])).not.toContain('geheim')
    },
  )

  it.each([0, 40])('takes a connection that breaks after %i bytes for a passing failure', async (afterBytes) => {
    const fake = await start()
    fake.dropNext({ afterBytes })
    const model = openai({ model: 'any', baseURL: fake.url })
    await expect(model.complete(HELLO, options)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
    expect(await model.complete(HELLO, options)).toMatchObject({ content: 'Hello to you.' })
  })

  it('names the server that cannot be reached', async () => {
    const fake = await start()
    await fake.close()
    await expect(openai({ model: 'any', baseURL: fake.url }).complete(HELLO, options)).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED') as string,
    })
  })

  it('lets go of a server that keeps it waiting', async () => {
    const fake = await start()
    fake.hold()
    const abort = new AbortController()
    const answer = openai({ model: 'any', baseURL: fake.url }).complete(HELLO, { ...options, signal: abort.signal })
    await fake.requested(1)
    abort.abort()
    await expect(answer).rejects.toThrow(/abort/i)
  })
})

describe('openai as a stream', () => {
  it('has shown what came before the connection broke', async () => {
    const fake = await start({ script: [{ deltas: ['one ', 'two ', 'three'] }] })
    fake.dropNext({ afterBytes: 300 })
    const texts: string[] = []
    const answer = openai({ model: 'any', baseURL: fake.url }).complete(HELLO, {
      onDelta: (delta) => texts.push(delta.type === 'text' ? delta.text : ''),
    })
    await expect(answer).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
    expect(texts[0]).toBe('one ')
    expect(texts).not.toContain('three')
  })

  it('does without usage where the server sends none', async () => {
    const body = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    const fake = await start()
    fake.failNext({ status: 200, headers: { 'content-type': 'text/event-stream' }, body })
    expect(await openai({ model: 'any', baseURL: fake.url }).complete(HELLO, { onDelta })).toMatchObject({
      content: 'Hi',
      usage: { inputTokens: 0, outputTokens: 0 },
    })
  })
})

describe('the key that names a call', () => {
  it.each([false, true])(
    'is sent, so that a provider can recognise a repetition (as a stream: %s)',
    async (streaming) => {
      const fake = await start()
      const model = openai({ model: 'any', baseURL: fake.url })
      const options = streaming ? { onDelta } : {}
      await model.complete(HELLO, { ...options, idempotencyKey: 's-1:m1.0:ab12' })
      await model.complete(HELLO, options)
      expect(fake.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['s-1:m1.0:ab12', undefined])
    },
  )
})
