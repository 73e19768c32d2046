/** Models of the AI SDK: real packages of providers over real servers that enforce the providers' rules. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider'
import type { LanguageModelV4 } from 'ai-sdk-provider-4'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { Completion, Model, ModelDelta } from '../../src/core/model.ts'
import { aiSdk, type AiSdkOptions } from '../../src/models/ai-sdk/ai-sdk.ts'
import type { AiSdkModel, CallOptions, StreamPart } from '../../src/models/ai-sdk/language-model.ts'
import { startFakeOpenAI, type FakeOpenAI, type Script } from '../../src/testing/index.ts'
import { fakeOf, question, recordOf, result, ROUND, TOOLS } from './claude-at-fake.ts'
import { modelContract } from './model-contract.ts'

async function compatible(script: Script, options: AiSdkOptions = {}): Promise<{ model: Model; fake: FakeOpenAI }> {
  const fake = await startFakeOpenAI({ script, apiKey: 'the-key' })
  onTestFinished(() => fake.close())
  const provider = createOpenAICompatible({ name: 'fake', baseURL: fake.url, apiKey: 'the-key', includeUsage: true })
  return { model: aiSdk(provider('deepseek-chat'), options), fake }
}

async function claude(script: Script, model: string, options: AiSdkOptions = {}): ReturnType<typeof made> {
  return made(await fakeOf(script), model, options)
}

async function made(fake: Awaited<ReturnType<typeof fakeOf>>, model: string, options: AiSdkOptions) {
  const provider = createAnthropic({ baseURL: fake.url, apiKey: 'claude-key' })
  return { model: aiSdk(provider(model), options), fake }
}

for (const streaming of [true, false]) {
  const how = streaming ? 'a streaming' : 'a'
  modelContract(`${how} model of @ai-sdk/openai-compatible`, async (script) => (await compatible(script)).model, {
    streaming,
    // This package reports the model's name at the beginning of a stream.
    namesModelAtEnd: false,
  })
  modelContract(
    `${how} model of @ai-sdk/anthropic`,
    async (script) => (await claude(script, 'claude-sonnet-5')).model,
    {
      streaming,
      namesModelAtEnd: false,
      keepsBroken: streaming,
    },
  )
}

it('takes the models of all specifications', () => {
  expectTypeOf<LanguageModelV2>().toExtend<AiSdkModel>()
  expectTypeOf<LanguageModelV3>().toExtend<AiSdkModel>()
  expectTypeOf<LanguageModelV4>().toExtend<AiSdkModel>()
  expect(() => aiSdk('anthropic/claude-sonnet-5' as never)).toThrow(/needs a language model/)
})

describe('reasoning', () => {
  it.each([true, false])('of Claude goes back signed, in front of its call (streaming: %s)', async (streaming) => {
    const thinking = { anthropic: { thinking: { type: 'adaptive' } } }
    const { model, fake } = await claude(ROUND, 'claude-opus-5-5', { providerOptions: thinking })
    const deltas: ModelDelta[] = []
    const onDelta = { onDelta: (delta: ModelDelta): void => void deltas.push(delta) }
    const first = await model.complete([question], { tools: TOOLS, ...(streaming && onDelta) })
    const said = deltas.flatMap((delta) => (delta.type === 'reasoning' ? [delta.text] : [])).join('')
    expect(said).toBe(streaming ? 'I must look.' : '')
    expect(Object.keys(first.provider ?? {})).toEqual(['ai-sdk:anthropic.messages'])
    const records = [question, recordOf(first), result]
    // The tools that this package sends depend on streaming, and the reasoning is bound to the tools.
    const second = await model.complete(records, { tools: TOOLS, ...(streaming && onDelta) })
    expect(second.content).toBe('Rain.')
    expect(fake.requests[1]?.body.messages[1]?.content).toMatchObject([
      { type: 'thinking', thinking: 'I must look.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'w1' },
    ])
    await model.complete([{ role: 'system', content: 'Be brief.' }, ...records], { tools: TOOLS })
    expect(JSON.stringify(fake.requests[2]?.body.messages)).not.toContain('I must look.')
  })

  it('that has nothing but its text goes back too, and to no other provider', async () => {
    const { model, fake } = await compatible(ROUND)
    const first = await model.complete([question], { tools: TOOLS, onDelta: () => {} })
    await model.complete([question, recordOf(first), result], { tools: TOOLS })
    expect(fake.requests[1]?.body.messages[1]).toMatchObject({ reasoning_content: 'I must look.', content: 'I look.' })
    const other = await claude(ROUND, 'claude-sonnet-5')
    await other.model.complete([question, recordOf(first), result], { tools: TOOLS })
    expect(JSON.stringify(other.fake.requests[0]?.body)).not.toContain('I must look.')
  })
})

describe('a request', () => {
  it('shows images of results as the user', async () => {
    const { model, fake } = await compatible(() => 'A cat.')
    const call: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'p', name: 'photo', arguments: '{}' }] }
    const parts = [{ type: 'image' as const, data: 'aGk=', mimeType: 'image/png' }]
    const photo: Message = { role: 'tool', content: '', toolCallId: 'p', name: 'photo', parts }
    await model.complete([question, call, photo], { tools: TOOLS })
    expect(fake.requests[0]?.body.messages.at(-1)).toMatchObject({
      role: 'user',
      content: [{ text: 'What photo returned:' }, { image_url: { url: 'data:image/png;base64,aGk=' } }],
    })
  })

  it('carries settings and headers', async () => {
    const { model, fake } = await compatible(() => 'Yes.', {
      temperature: 0.5,
      maxTokens: 7,
      headers: { 'x-team': 'blue' },
      providerOptions: { fake: { user: 'me' } },
      name: 'mine',
    })
    expect([model.name, model.provider]).toEqual(['mine', 'fake'])
    await model.complete([question])
    expect(fake.requests[0]).toMatchObject({
      headers: { 'x-team': 'blue' },
      body: { temperature: 0.5, max_tokens: 7, user: 'me' },
    })
  })
})

describe('an error', () => {
  it('is classified by what the provider said', async () => {
    const { model, fake } = await compatible(() => 'Yes.')
    fake.failNext({ status: 529, headers: { 'retry-after': '3' } })
    await expect(model.complete([question])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', retryAfterMs: 3000 })
    fake.failNext({ status: 401 })
    await expect(model.complete([question])).rejects.toMatchObject({ code: 'MODEL_AUTH' })
    fake.dropNext()
    await expect(model.complete([question])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
    fake.dropNext({ afterBytes: 100 })
    await expect(model.complete([question], { onDelta: () => {} })).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
  })

  it('of a missing key is one of the key', async () => {
    const model = aiSdk(
      createAnthropic({ apiKey: undefined as never, baseURL: 'http://127.0.0.1:9' })('claude-sonnet-5'),
    )
    await expect(model.complete([question])).rejects.toMatchObject({ code: 'MODEL_AUTH' })
  })

  it('inside a stream is told by its words', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    await expect(streamed('v3', [{ type: 'error', error } as never])).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: 'model m: Overloaded',
    })
    await expect(streamed('v3', [{ type: 'error', error: 'rate_limit reached' }])).rejects.toMatchObject({
      code: 'MODEL_RATE_LIMITED',
    })
    await expect(streamed('v3', [{ type: 'text-delta', id: '1', delta: 'half' }])).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    })
  })
})

describe('an answer', () => {
  const text: StreamPart[] = [
    { type: 'stream-start' },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Rain.' },
    { type: 'text-end', id: '1' },
  ]
  const v2: StreamPart = {
    type: 'finish',
    finishReason: 'length',
    usage: { inputTokens: 9, outputTokens: 2, cachedInputTokens: 4 },
  }
  const v4: StreamPart = {
    type: 'finish',
    finishReason: { unified: 'interrupted' },
    usage: { inputTokens: { total: 9, cacheRead: 4, cacheWrite: 1 }, outputTokens: { total: 2 } },
  }

  it.each([
    ['v2', v2],
    ['v4', v4],
  ])('of specification %s is read', async (version, finish) => {
    const signs = { alive: 0 }
    const answer = await streamed(version, [...text, { type: 'ping' }, finish], signs)
    expect(answer).toEqual({
      content: 'Rain.',
      toolCalls: [],
      finishReason: 'length',
      usage: { inputTokens: 9, outputTokens: 2, cachedTokens: 4 },
    })
    expect(signs.alive).toBeGreaterThan(5)
  })

  it('keeps what the provider says of a call, and gives it back at that call', async () => {
    const providerMetadata = { google: { thoughtSignature: 'sealed' } }
    const call: StreamPart = { type: 'tool-call', toolCallId: 'w1', toolName: 'weather', input: '{}', providerMetadata }
    const server: StreamPart = {
      type: 'tool-call',
      toolCallId: 's',
      toolName: 'search',
      input: '{}',
      providerExecuted: true,
    }
    const answer = await streamed('v3', [server, call, v2])
    expect(answer.toolCalls).toEqual([{ id: 'w1', name: 'weather', arguments: '{}' }])
    const prompts: CallOptions[] = []
    await streamed('v3', [...text, v2], { alive: 0, prompts }, [question, recordOf(answer), result])
    expect(prompts[0]?.prompt[1]).toMatchObject({ content: [{ toolCallId: 'w1', providerOptions: providerMetadata }] })
  })
})

/** Asks a model that streams these parts. */
function streamed(
  specificationVersion: string,
  parts: readonly StreamPart[],
  signs: { alive: number; prompts?: CallOptions[] } = { alive: 0 },
  messages: Message[] = [question],
): Promise<Completion> {
  const model = {
    specificationVersion,
    provider: 'p',
    modelId: 'm',
    doGenerate: () => Promise.reject(new Error('not asked')),
    doStream(options: CallOptions) {
      signs.prompts?.push(options)
      return Promise.resolve({ stream: ReadableStream.from(parts) })
    },
  }
  return aiSdk(model as AiSdkModel).complete(messages, { onDelta: () => {}, onAlive: () => void signs.alive++ })
}
