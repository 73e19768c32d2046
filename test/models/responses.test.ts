/**
 * The Responses API on a real HTTP server that keeps OpenAI's rules. Streams that this server does not write are tested
 * in responses-stream.test.ts.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { Completion, Model, ModelDelta } from '../../src/core/model.ts'
import { openai } from '../../src/models/openai/openai.ts'
import type { OpenAIOptions } from '../../src/models/openai/openai-options.ts'
import {
  startFakeResponses,
  type FakeResponses,
  type FakeResponsesOptions,
  type Script,
} from '../../src/testing/index.ts'
import { modelContract } from './model-contract.ts'

const QUESTION: Message[] = [
  { role: 'system', content: 'You know the weather.' },
  { role: 'user', content: 'Weather in Oslo?' },
]
const TOOLS = [{ name: 'get_weather', description: '', parameters: { type: 'object', properties: {} } }]
const CALL = { name: 'get_weather', arguments: { city: 'Oslo' }, id: 'call_1' }
const onDelta = (): void => {}

const open: FakeResponses[] = []

async function start(options: FakeResponsesOptions = { script: () => 'Rain.' }): Promise<FakeResponses> {
  const fake = await startFakeResponses(options)
  open.push(fake)
  return fake
}

function at(fake: FakeResponses, options: Partial<OpenAIOptions> = {}): Model {
  return openai({ model: 'gpt-5.4', baseURL: fake.url, apiKey: 'sk-0123456789', api: 'responses', ...options })
}

function toRecord({ content, toolCalls, provider }: Completion): Message {
  return { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }), ...(provider && { provider }) }
}

const result = (id = 'call_1'): Message => ({ role: 'tool', content: 'rain', toolCallId: id, name: 'get_weather' })

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined)
  vi.stubEnv('OPENAI_BASE_URL', undefined)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(open.splice(0).map((fake) => fake.close()))
})

for (const reasoning of [true, false]) {
  const kind = reasoning ? 'a reasoning model' : 'a model that does not reason'
  const overHttp = async (script: Script): Promise<Model> => at(await start({ script, reasoning }))
  modelContract(`the Responses API in JSON, ${kind}`, overHttp, { streaming: false })
  modelContract(`the Responses API as a stream, ${kind}`, overHttp, { streaming: true })
}

describe.each([
  ['JSON', {}],
  ['a stream', { onDelta }],
])('the Responses API, in %s', (_, listening) => {
  const options = { ...listening, tools: TOOLS }

  it('gets its reasoning back in front of its call, and stores nothing', async () => {
    const fake = await start({ script: [{ toolCalls: [CALL] }, 'Rain.'] })
    const model = at(fake)
    const first = await model.complete(QUESTION, options)
    const second = await model.complete([...QUESTION, toRecord(first), result()], options)
    expect(second.content).toBe('Rain.')
    const [, asked] = fake.requests
    expect(asked?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(asked?.body.input).toMatchObject([
      { role: 'user' },
      { type: 'reasoning', id: 'rs_1', encrypted_content: expect.stringContaining('gAAAAA') as string },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
    ])
  })

  it('would be refused without it', async () => {
    const fake = await start({ script: [{ toolCalls: [CALL] }, 'Rain.'] })
    const { provider: _lost, ...record } = toRecord(await at(fake).complete(QUESTION, options))
    await expect(at(fake).complete([...QUESTION, record, result()], options)).rejects.toMatchObject({
      code: 'MODEL_REFUSED_REQUEST',
      message: expect.stringContaining("without its required 'reasoning' item: 'rs_1'") as string,
    })
  })

  it('sends one reasoning item for parallel calls, and text in its place between', async () => {
    const calls = [CALL, { ...CALL, id: 'call_2' }]
    const fake = await start({ script: [{ content: 'I look.', toolCalls: calls }, 'Rain.'] })
    const first = await at(fake).complete(QUESTION, options)
    await at(fake).complete([...QUESTION, toRecord(first), result(), result('call_2')], options)
    expect(fake.requests[1]?.body.input).toMatchObject([
      { role: 'user' },
      { type: 'reasoning' },
      { role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call', call_id: 'call_2' },
      { type: 'function_call_output' },
      { type: 'function_call_output' },
    ])
  })

  it('sends the reasoning of another model or of another server to nobody else', async () => {
    const fake = await start({ script: [{ toolCalls: [CALL] }, 'Rain.'] })
    const elsewhere = await start({ script: () => 'Rain.' })
    const first = await at(fake).complete(QUESTION, options)
    const transcript = [...QUESTION, toRecord(first), result()]
    await at(fake, { model: 'gpt-5.4-mini' }).complete(transcript, options)
    await at(elsewhere).complete(transcript, options)
    for (const { body } of [fake.requests[1], elsewhere.requests[0]].flatMap((request) => request ?? [])) {
      expect(JSON.stringify(body.input)).not.toContain('reasoning')
    }
  })

  it('sends the reasoning first where a record was changed', async () => {
    const fake = await start({
      script: [{ content: 'I look.', toolCalls: [CALL, { ...CALL, id: 'call_2' }] }, 'Rain.'],
    })
    const first = toRecord(await at(fake).complete(QUESTION, options))
    const changed = { ...first, content: 'cut', toolCalls: first.toolCalls?.slice(0, 1) ?? [] }
    await at(fake).complete([...QUESTION, changed, result()], options)
    expect(fake.requests[1]?.body.input).toMatchObject([
      { role: 'user' },
      { type: 'reasoning' },
      { role: 'assistant', content: 'cut' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output' },
    ])
  })

  it('asks a model that does not reason for its reasoning only once', async () => {
    const fake = await start({ script: () => 'Rain.', reasoning: false })
    const model = at(fake)
    await model.complete(QUESTION, options)
    expect(await model.complete(QUESTION, options)).toMatchObject({ content: 'Rain.' })
    expect(fake.requests.map(({ body }) => body.include)).toEqual([
      ['reasoning.encrypted_content'],
      undefined,
      undefined,
    ])
  })

  it('sends every setting under its name there', async () => {
    const fake = await start()
    await at(fake, {
      maxTokens: 500,
      reasoning: { effort: 'low', summary: 'auto' },
      verbosity: 'low',
      serviceTier: 'flex',
      parallelToolCalls: false,
      extraBody: { safety_identifier: 'u1' },
      headers: { 'x-team': 'research' },
      organization: 'org-1',
      project: 'proj-1',
    }).complete(QUESTION, { ...options, cacheKey: 'root-1', idempotencyKey: 's-1:m1.0' })
    expect(fake.requests[0]).toMatchObject({
      body: {
        model: 'gpt-5.4',
        instructions: 'You know the weather.',
        max_output_tokens: 500,
        reasoning: { effort: 'low', summary: 'auto' },
        text: { verbosity: 'low' },
        service_tier: 'flex',
        parallel_tool_calls: false,
        prompt_cache_key: 'root-1',
        safety_identifier: 'u1',
        tools: [{ type: 'function', name: 'get_weather', strict: false }],
      },
      headers: {
        'x-team': 'research',
        'openai-organization': 'org-1',
        'openai-project': 'proj-1',
        'idempotency-key': 's-1:m1.0',
      },
    })
  })

  it('prefers a cache key of its own, and cuts a long one to what is taken', async () => {
    const fake = await start()
    await at(fake, { promptCacheKey: 'mine' }).complete(QUESTION, { ...options, cacheKey: 'root-1' })
    await at(fake).complete(QUESTION, { ...options, cacheKey: 'r'.repeat(100) })
    const [own, long] = fake.requests.map(({ body }) => body.prompt_cache_key)
    expect(own).toBe('mine')
    expect(long).toMatch(/^[0-9a-f]{64}$/)
  })

  it('shows images of users and of tools', async () => {
    const fake = await start({ script: [{ toolCalls: [CALL] }, 'A cat.'] })
    const parts = [{ type: 'image' as const, data: 'aGk=', mimeType: 'image/png' }]
    const first = await at(fake).complete(QUESTION, options)
    const messages = [
      ...QUESTION,
      toRecord(first),
      { ...result(), parts },
      { role: 'user' as const, content: '', parts },
    ]
    await at(fake).complete(messages, options)
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=' }
    expect(fake.requests[1]?.body.input).toMatchObject([
      {},
      {},
      {},
      { type: 'function_call_output', output: [{ type: 'input_text', text: 'rain' }, image] },
      { role: 'user', content: [image] },
    ])
  })

  it('sends no reasoning that nothing follows', async () => {
    const fake = await start({ script: [{ content: '', finishReason: 'length' }, 'Rain.'] })
    const first = await at(fake).complete(QUESTION, options)
    expect(first).toMatchObject({ content: '', finishReason: 'length' })
    expect(await at(fake).complete([...QUESTION, toRecord(first)], options)).toMatchObject({ content: 'Rain.' })
  })

  it('says which message a refusal means', async () => {
    const fake = await start()
    fake.failNext({
      status: 400,
      body: { error: { message: "Invalid 'input[1].content'", param: 'input[1].content' } },
    })
    const messages: Message[] = [...QUESTION, { role: 'user', content: 'this one' }, { role: 'user', content: 'last' }]
    await expect(at(fake).complete(messages, options)).rejects.toMatchObject({
      code: 'MODEL_REFUSED_REQUEST',
      behind: 1,
    })
  })

  it('takes a connection that breaks for a passing failure', async () => {
    const fake = await start()
    fake.dropNext({ afterBytes: 600 })
    await expect(at(fake).complete(QUESTION, options)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
  })
})

describe('the Responses API as a stream', () => {
  it('shows what the model thinks, apart from what it says', async () => {
    const fake = await start({ script: [{ reasoning: 'Oslo is in Norway.', content: 'Rain.' }] })
    const deltas: ModelDelta[] = []
    const { content } = await at(fake, { reasoning: { summary: 'auto' } }).complete(QUESTION, {
      onDelta: (delta) => deltas.push(delta),
    })
    const texts = (type: 'text' | 'reasoning'): string =>
      deltas.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('')
    expect([texts('reasoning'), texts('text'), content]).toEqual(['Oslo is in Norway.', 'Rain.', 'Rain.'])
  })
})

describe('chat completions of OpenAI itself', () => {
  it('get the key of the tree too, so that forks share the cache', async () => {
    const bodies: unknown[] = []
    vi.stubGlobal('fetch', (_: string, init: RequestInit) => {
      bodies.push(JSON.parse(init.body as string))
      return Promise.resolve(Response.json({ error: { message: 'no' } }, { status: 400 }))
    })
    try {
      const model = openai({ model: 'm', baseURL: 'https://api.openai.com/v1', apiKey: 'k', api: 'chat' })
      await expect(model.complete(QUESTION, { cacheKey: 'root-1' })).rejects.toThrow('no')
    } finally {
      vi.unstubAllGlobals()
    }
    expect(bodies).toMatchObject([{ prompt_cache_key: 'root-1' }])
  })
})

describe('which API is spoken', () => {
  it.each([
    ['https://api.openai.com/v1', 'responses'],
    ['https://eu.api.openai.com/v1', 'responses'],
    ['https://openai.example.com/v1', 'chat/completions'],
    ['https://api.openai.com.example.com/v1', 'chat/completions'],
  ])('at %s it is %s', async (baseURL, path) => {
    const asked: string[] = []
    vi.stubGlobal('fetch', (url: string | URL) => {
      asked.push(String(url))
      return Promise.resolve(Response.json({ error: { message: 'no' } }, { status: 400 }))
    })
    try {
      await expect(openai({ model: 'm', baseURL, apiKey: 'k' }).complete(QUESTION)).rejects.toThrow('no')
    } finally {
      vi.unstubAllGlobals()
    }
    expect(asked).toEqual([`${baseURL}/${path}`])
  })
})
