/** Our client and servers that refuse what their providers refuse, over real HTTP. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Message, ProviderData } from '../../src/core/message.ts'
import type { Model } from '../../src/core/model.ts'
import { modelAt, openai } from '../../src/models/openai/openai.ts'
import { OPENAI } from '../../src/models/openai/openai-providers.ts'
import { startFakeOpenAI, type ChatRules, type FakeOpenAI, type Script } from '../../src/testing/index.ts'
import { transcript } from '../support/random-transcript.ts'

const HELLO: Message = { role: 'user', content: 'hello' }
/** Calls the same tool twice, with other arguments at each place of the conversation. */
const TWICE: Script = ({ messages }) => {
  const call = (n: number): object => ({ at: messages.length, n })
  return messages.at(-1)?.role === 'user'
    ? { toolCalls: [1, 2].map((n) => ({ name: 'look', arguments: call(n) })) }
    : 'Done.'
}

let open: FakeOpenAI[] = []

beforeEach(() => {
  open = []
})

afterEach(async () => {
  await Promise.all(open.map((fake) => fake.close()))
})

async function start(
  rules: ChatRules | undefined,
  script: Script = TWICE,
): Promise<{ fake: FakeOpenAI; model: Model }> {
  const fake = await startFakeOpenAI({ script, ...(rules && { rules }) })
  open.push(fake)
  return { fake, model: at(fake, rules) }
}

/** A model of the provider of that name, at another base URL. */
function at(fake: FakeOpenAI, name = 'openai'): Model {
  return modelAt({ ...OPENAI, name }, { model: 'any', baseURL: fake.url, apiKey: 'k' })
}

/** One turn with two calls, as a session makes it: ids may be rewritten on the way. */
async function turn(model: Model, before: Message[], options: object): Promise<Message[]> {
  const asked = [...before, HELLO]
  const { content, toolCalls, provider } = await model.complete(asked, options)
  const renamed = toolCalls.map((call, i) => ({ ...call, id: `renamed_${asked.length}_${i}` }))
  const called: Message = { role: 'assistant', content, toolCalls: renamed, ...(provider && { provider }) }
  const results = renamed.map(({ id }): Message => ({ role: 'tool', content: 'seen', toolCallId: id, name: 'look' }))
  const answer = await model.complete([...asked, called, ...results], options)
  const said: Message = {
    role: 'assistant',
    content: answer.content,
    ...(answer.provider && { provider: answer.provider }),
  }
  return [...asked, called, ...results, said]
}

const FORMS: [string, object][] = [
  ['whole', {}],
  ['as a stream', { onDelta: () => undefined }],
]
const ALL = [undefined, 'openai', 'deepseek', 'google', 'mistral'] as const

describe.each(ALL)('with the rules of %s', (rules) => {
  it('no transcript is refused, whatever a store or a contextFn could hold', async () => {
    const { model } = await start(rules, () => 'Yes.')
    await fc.assert(
      fc.asyncProperty(transcript, async (messages) => {
        expect(await model.complete([...messages, HELLO])).toMatchObject({ content: 'Yes.' })
      }),
      { numRuns: 60 },
    )
  })

  it.each(FORMS)('turns that call tools go on and on, %s', async (_, options) => {
    const { model } = await start(rules)
    const messages = await turn(model, await turn(model, [], options), options)
    expect(messages.at(-1)?.content).toBe('Done.')
  })

  it.each(ALL)('a session that began with %s goes on', async (other) => {
    const first = await start(other)
    const { model } = await start(rules)
    const messages = await turn(model, await turn(first.model, [], {}), {})
    expect(messages.at(-1)?.content).toBe('Done.')
  })
})

describe('what a provider wants back', () => {
  const kept = (messages: Message[]): ProviderData[] => messages.flatMap(({ provider }) => (provider ? [provider] : []))

  it('is kept under its name: reasoning of DeepSeek, also of the answer behind the calls', async () => {
    const { fake, model } = await start('deepseek')
    expect(kept(await turn(model, [], {}))).toEqual([
      { deepseek: { reasoning_content: '(thought 1)' } },
      { deepseek: { reasoning_content: '(thought 2)' } },
    ])
    expect(fake.requests[1]?.body.messages[1]).toMatchObject({ reasoning_content: '(thought 1)' })
  })

  it('is kept at the place of the call: signatures of Gemini', async () => {
    const { fake, model } = await start('google')
    expect(kept(await turn(model, [], {}))).toEqual([
      { google: { extra_content: [{ google: { thought_signature: 'sig-1' } }, null] } },
    ])
    expect(fake.requests[1]?.body.messages[1]).toMatchObject({
      tool_calls: [{ extra_content: { google: { thought_signature: 'sig-1' } } }, { id: 'renamed_1_1' }],
    })
  })

  it.each(['openai', 'mistral', 'google', 'deepseek'] as const)(
    'never goes to another provider, as %s',
    async (rules) => {
      const other = rules === 'deepseek' ? 'google' : 'deepseek'
      const { model } = await start(other)
      const { fake, model: next } = await start(rules)
      await next.complete([...(await turn(model, [], {})), HELLO])
      expect(JSON.stringify(fake.requests)).not.toMatch(/\(thought|sig-\d/)
      // Only Google gets Google's word for calls of others.
      expect(JSON.stringify(fake.requests).includes('skip_thought_signature_validator')).toBe(rules === 'google')
    },
  )

  it('from a server that was named only by its URL is kept under its host', async () => {
    const { fake } = await start('deepseek')
    const { provider } = await openai({ model: 'any', baseURL: fake.url, apiKey: 'k' }).complete([HELLO])
    expect(provider).toEqual({ [new URL(fake.url).host]: { reasoning_content: '(thought 1)' } })
  })

  it('has room in the record, however long the reasoning is', async () => {
    const long = '"\\🤔\u0001'.repeat(300_000)
    const { fake } = await start('deepseek')
    const body = {
      choices: [{ index: 0, message: { content: 'Yes.', reasoning_content: long }, finish_reason: 'stop' }],
    }
    fake.failNext({ status: 200, headers: { 'content-type': 'application/json' }, body })
    const { provider } = await at(fake, 'deepseek').complete([HELLO])
    expect(JSON.stringify(provider).length).toBeLessThan(1024 * 1024)
  })
})

describe('the limit of an answer', () => {
  it('has the name that the server wants, learnt from its refusal, once for each model', async () => {
    const { fake } = await start('openai', () => 'Yes.')
    const ask = { baseURL: fake.url, apiKey: 'k', maxTokens: 50 }
    const names = (): string[][] =>
      fake.requests.map(({ body }) => Object.keys(body).filter((key) => key.startsWith('max_')))
    const newer = openai({ ...ask, model: 'gpt-5-mini' })
    await newer.complete([HELLO])
    await newer.complete([HELLO], { onDelta: () => undefined })
    await openai({ ...ask, model: 'gpt-4o' }).complete([HELLO])
    expect(names()).toEqual([['max_tokens'], ['max_completion_tokens'], ['max_completion_tokens'], ['max_tokens']])
    expect(fake.requests[2]?.body.max_completion_tokens).toBe(50)
  })

  it('that is too high is an error, and no reason to try another name', async () => {
    const { fake } = await start(undefined)
    fake.failNext({ status: 400, body: { error: { message: 'max_tokens must be at most 8192' } } })
    const model = openai({ model: 'any', baseURL: fake.url, apiKey: 'k', maxTokens: 10_000 })
    await expect(model.complete([HELLO])).rejects.toMatchObject({ code: 'MODEL_REFUSED_REQUEST' })
    expect(fake.requests).toHaveLength(1)
  })
})

it('an error that comes in a list, as from Google, is read', async () => {
  const { fake, model } = await start('google')
  fake.failNext({ status: 400, body: [{ error: { code: 400, message: 'Invalid value', status: 'INVALID_ARGUMENT' } }] })
  await expect(model.complete([HELLO])).rejects.toMatchObject({ message: 'model any: 400 Invalid value' })
})
