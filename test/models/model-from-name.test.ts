import { afterEach, describe, expect, it, vi } from 'vitest'
import { fromPackage } from '../../src/models/ai-sdk/from-package.ts'
import { modelFromName } from '../../src/models/model-from-name.ts'
import { modelAt } from '../../src/models/openai/openai.ts'
import { PROVIDERS } from '../../src/models/openai/openai-providers.ts'
import { startFakeOpenAI } from '../../src/testing/index.ts'

const question = [{ role: 'user' as const, content: 'Hi' }]

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

/** Answers every request with a refusal. @returns the URLs that were asked, with their keys */
function listen(): { url: string; key: string | null }[] {
  const asked: { url: string; key: string | null }[] = []
  vi.stubGlobal('fetch', (url: string | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers)
    asked.push({ url: String(url), key: headers.get('authorization') ?? headers.get('x-api-key') })
    return Promise.resolve(Response.json({ error: { message: 'no' } }, { status: 400 }))
  })
  return asked
}

describe('a model by name', () => {
  it('is the provider’s, under the name the provider knows', () => {
    expect(modelFromName('openai:gpt-5.4-mini')).toMatchObject({ name: 'gpt-5.4-mini', provider: 'openai' })
    expect(modelFromName('anthropic:claude-sonnet-5').name).toBe('claude-sonnet-5')
    expect(modelFromName('openai:ft:gpt-5:me').name).toBe('ft:gpt-5:me')
    expect(modelFromName('openrouter:qwen/qwen3:free')).toMatchObject({
      name: 'qwen/qwen3:free',
      provider: 'openrouter',
    })
  })

  it.each([
    ['openai', 'OPENAI_API_KEY', 'https://api.openai.com/v1/responses'],
    ['google', 'GEMINI_API_KEY', 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions'],
    ['deepseek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/chat/completions'],
    ['openrouter', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1/chat/completions'],
    ['ollama', 'OLLAMA_API_KEY', 'http://127.0.0.1:11434/v1/chat/completions'],
    ['groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1/chat/completions'],
    ['mistral', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1/chat/completions'],
  ])('of %s is asked with %s at %s', async (provider, variable, url) => {
    vi.stubEnv('OPENAI_BASE_URL', undefined)
    vi.stubEnv('OLLAMA_HOST', undefined)
    vi.stubEnv(variable, 'the-key-of-it')
    const asked = listen()
    await expect(modelFromName(`${provider}:m`).complete(question)).rejects.toThrow('no')
    expect(asked).toEqual([{ url, key: 'Bearer the-key-of-it' }])
  })

  it.each(PROVIDERS.filter(({ keyless }) => !keyless))(
    'of $name names its own variable when the key is missing',
    async ({ name, keyVariable }) => {
      for (const each of PROVIDERS) vi.stubEnv(each.keyVariable, each.keyVariable === keyVariable ? undefined : 'other')
      vi.stubEnv('OPENAI_BASE_URL', undefined)
      await expect(modelFromName(`${name}:m`).complete(question)).rejects.toMatchObject({
        code: 'MODEL_AUTH',
        hint: expect.stringContaining(keyVariable) as string,
      })
    },
  )

  it.each([
    ['box', 'http://box:11434/v1'],
    ['box:8080', 'http://box:8080/v1'],
    ['https://box/', 'https://box:11434/v1'],
    ['[::1]:11434', 'http://[::1]:11434/v1'],
  ])('of Ollama is asked without a key where OLLAMA_HOST says: %s', async (host, base) => {
    vi.stubEnv('OLLAMA_API_KEY', undefined)
    vi.stubEnv('OLLAMA_HOST', host)
    const asked = listen()
    await expect(modelFromName('ollama:qwen3').complete(question)).rejects.toThrow('no')
    expect(asked).toMatchObject([{ url: `${base}/chat/completions` }])
  })

  it('answers over HTTP, whichever row it is', async () => {
    const fake = await startFakeOpenAI({ script: () => 'Hello', apiKey: 'k' })
    try {
      for (const row of PROVIDERS) {
        const model = modelAt(row, { model: 'm', baseURL: fake.url, apiKey: 'k' })
        expect(await model.complete(question)).toMatchObject({ content: 'Hello' })
        expect(model.provider).toBe(new URL(fake.url).host)
      }
    } finally {
      await fake.close()
    }
  })

  it.each(['gpt-5-mini', 'azure:gpt-5', 'openai:', ':x', 'toString:x'])(
    'is refused as %j, with the providers there are',
    (name) => {
      expect(() => modelFromName(name)).toThrow(
        expect.objectContaining({
          code: 'INVALID_ARGUMENT',
          hint: expect.stringContaining(
            'openai, google, deepseek, openrouter, ollama, groq, mistral, anthropic',
          ) as string,
        }),
      )
    },
  )
})

describe('a provider of the AI SDK', () => {
  it('is found by its package, which is loaded with the first call', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined)
    const model = fromPackage('anthropic', 'claude-sonnet-5')
    expect([model?.name, model?.provider]).toEqual(['claude-sonnet-5', 'anthropic'])
    // The package itself misses its key.
    await expect(model?.complete(question)).rejects.toMatchObject({ code: 'MODEL_AUTH' })
    const nobody = modelFromName('openai-compatible:any').complete(question)
    await expect(nobody).rejects.toThrow(/@ai-sdk\/openai-compatible exports no provider/)
  })

  it('is none without its package', () => {
    expect(fromPackage('nobody', 'm')).toBeUndefined()
    expect(fromPackage('../provider', 'm')).toBeUndefined()
    expect(() => modelFromName('nobody:m')).toThrow(/names no model/)
  })
})
