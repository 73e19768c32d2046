/** Options of models that are wrong, and their names in both APIs. */
import { afterEach, describe, expect, it } from 'vitest'
import { openai } from '../../src/models/openai/openai.ts'
import type { OpenAIOptions } from '../../src/models/openai/openai-options.ts'
import { startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'

const open: FakeOpenAI[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()))
})

describe('an option that is wrong', () => {
  it.each([
    [{ api: 'completions' }, "api must be one of 'responses', 'chat', not 'completions'"],
    [{ temperature: 3 }, 'temperature must be a number from 0 to 2, not 3'],
    [{ temperature: Number.NaN }, 'temperature must be a number from 0 to 2, not NaN'],
    [{ maxTokens: 0.5 }, 'maxTokens must be a whole number of tokens, 1 or more, not 0.5'],
    [{ reasoning: 'high' }, "reasoning must be an object, not 'high'"],
    [{ reasoning: { effort: 'very' } }, "reasoning.effort must be one of 'none', 'minimal'"],
    [{ reasoning: { summaries: 'auto' } }, 'reasoning.summaries is no option'],
    [{ verbosity: 1 }, "verbosity must be one of 'low', 'medium', 'high', not 1"],
    [{ serviceTier: 'cheap' }, 'serviceTier must be one of'],
    [{ promptCacheKey: 'x'.repeat(65) }, 'promptCacheKey must be text of at most 64 characters'],
    [{ parallelToolCalls: 'no' }, "parallelToolCalls must be true or false, not 'no'"],
    [{ extraBody: [] }, 'extraBody must be an object, not a list'],
    [{ headers: { a: 1 } }, 'headers must be texts by name, not an object'],
    [{ timeout: 'soon' }, "timeout: 'soon' is not a duration"],
    [{ organization: '' }, "organization must be text, not ''"],
    [{ prices: { input: -1, output: 1 } }, 'prices.input must be US dollars per million tokens, 0 or more, not -1'],
    [{ maxtokens: 5 }, 'maxtokens is no option'],
  ])('is named: %j', (wrong, message) => {
    expect(() => openai({ model: 'm', ...(wrong as object) })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(`model m: ${message}`) as string,
      }),
    )
  })

  it.each([undefined, {}, { model: '' }, { model: 5 }])('without a model’s name is refused: %j', (options) => {
    expect(() => openai(options as OpenAIOptions)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('may be undefined', () => {
    expect(openai({ model: 'm', timeout: '5m', api: undefined } as unknown as OpenAIOptions).timeoutMs).toBe(300_000)
  })
})

describe('the settings of a model behind chat completions', () => {
  it('have their names there, and a cache key only when it is asked for', async () => {
    const fake = await startFakeOpenAI({ script: () => 'Hi' })
    open.push(fake)
    const options = { model: 'm', baseURL: fake.url }
    const messages = [{ role: 'user' as const, content: 'hello' }]
    const tools = [{ name: 'look', description: '', parameters: { type: 'object' } }]
    await openai(options).complete(messages, { tools, cacheKey: 'root' })
    await openai({
      ...options,
      reasoning: { effort: 'none' },
      verbosity: 'low',
      serviceTier: 'flex',
      promptCacheKey: 'mine',
      parallelToolCalls: false,
      extraBody: { top_k: 5 },
      organization: 'org-1',
      project: 'proj-1',
    }).complete(messages, { tools, cacheKey: 'root' })
    const [plain, full] = fake.requests
    expect(Object.keys(plain?.body ?? {}).sort()).toEqual(['messages', 'model', 'tools'])
    expect(full).toMatchObject({
      body: {
        reasoning_effort: 'none',
        verbosity: 'low',
        service_tier: 'flex',
        prompt_cache_key: 'mine',
        parallel_tool_calls: false,
        top_k: 5,
      },
      headers: { 'openai-organization': 'org-1', 'openai-project': 'proj-1' },
    })
  })
})
