import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClaude } from '../../src/models/openai/openai.ts'
import { scriptedModel, startFakeOpenAI, type FakeOpenAI } from '../../src/testing/index.ts'

const question = [{ role: 'user' as const, content: 'Hi' }]
let fake: FakeOpenAI

beforeEach(async () => {
  fake = await startFakeOpenAI({ model: scriptedModel(() => 'Hello'), apiKey: 'claude-key' })
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await fake.close()
})

describe('a model of Anthropic', () => {
  it.each(['', '/', '/v1', '/v1/'])('is asked at ANTHROPIC_BASE_URL when that ends in %j', async (end) => {
    vi.stubEnv('ANTHROPIC_BASE_URL', fake.url.replace(/\/v1\/?$/, end))
    vi.stubEnv('ANTHROPIC_API_KEY', 'claude-key')
    expect((await createClaude({ model: 'claude-x' }).complete(question)).content).toBe('Hello')
  })

  it('names its own variable when the key is missing or refused', async () => {
    vi.stubEnv('ANTHROPIC_BASE_URL', '')
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    vi.stubEnv('OPENAI_API_KEY', 'claude-key')
    const refusal = { code: 'MODEL_AUTH', hint: expect.stringContaining('ANTHROPIC_API_KEY') }
    await expect(createClaude({ model: 'claude-x' }).complete(question)).rejects.toMatchObject(refusal)
    await expect(createClaude({ model: 'claude-x', baseURL: fake.url }).complete(question)).rejects.toMatchObject(
      refusal,
    )
  })
})
