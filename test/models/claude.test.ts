/** Claude on a real server that enforces Anthropic's rules. The contract suite tests what holds for every model. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Completion } from '../../src/core/model.ts'
import { createClaude } from '../../src/models/anthropic/claude.ts'
import type { ClaudeOptions } from '../../src/models/anthropic/claude-options.ts'
import type { FakeAnthropic } from '../../src/testing/index.ts'
import { claudeAt, fakeOf, question } from './claude-at-fake.ts'
import { modelContract } from './model-contract.ts'

afterEach(() => void vi.unstubAllEnvs())

for (const streaming of [true, false]) {
  modelContract(
    streaming ? 'a streaming Claude' : 'a Claude',
    async (script) => claudeAt(await fakeOf(script)),
    // A stream of Anthropic names its model at the beginning, before the script has named it.
    { streaming, namesModelAtEnd: false },
  )
}

describe('where Claude is asked', () => {
  let fake: FakeAnthropic
  beforeEach(async () => {
    fake = await fakeOf(() => 'Hello')
  })

  it.each(['', '/', '/v1', '/v1/'])('is ANTHROPIC_BASE_URL, also when that ends in %j', async (end) => {
    vi.stubEnv('ANTHROPIC_BASE_URL', fake.url.replace(/\/v1\/?$/, end))
    vi.stubEnv('ANTHROPIC_API_KEY', 'claude-key')
    expect((await createClaude({ model: 'claude-x' }).complete([question])).content).toBe('Hello')
  })

  it('is told in the error of a key that is missing or refused', async () => {
    vi.stubEnv('ANTHROPIC_BASE_URL', '')
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    vi.stubEnv('OPENAI_API_KEY', 'claude-key')
    const refusal = { code: 'MODEL_AUTH', hint: expect.stringContaining('ANTHROPIC_API_KEY') as string }
    await expect(createClaude({ model: 'claude-x' }).complete([question])).rejects.toMatchObject(refusal)
    const error = await claudeAt(fake, { apiKey: 'sk-ant-wrong-key' }).complete([question]).catch(String)
    expect(error).not.toContain('wrong-key')
    await expect(claudeAt(fake, { apiKey: 'wrong' }).complete([question])).rejects.toMatchObject(refusal)
  })

  it('gives the provider its name, and another base URL its host', () => {
    expect(createClaude({ model: 'claude-x' }).provider).toBe('anthropic')
    expect(claudeAt(fake).provider).toBe(new URL(fake.url).host)
  })
})

describe('an error', () => {
  it('of a request that is refused tells which message it means', async () => {
    const fake = await fakeOf(() => 'Yes.')
    fake.failNext({ status: 400, body: { type: 'error', error: { message: 'messages.2.content.0: too odd' } } })
    const talk = ['one', 'two', 'three', 'four'].map((content, i) => ({
      role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content,
    }))
    // In the request, the first two users are one message.
    const asking = claudeAt(fake).complete([{ role: 'system', content: 'S' }, question, ...talk, question])
    await expect(asking).rejects.toMatchObject({ code: 'MODEL_REFUSED_REQUEST', behind: 2 })
  })

  it('is waited for as long as Anthropic says when it is overloaded', async () => {
    const fake = await fakeOf(() => 'Yes.')
    fake.failNext({ status: 529, headers: { 'retry-after': '3' } })
    await expect(claudeAt(fake).complete([question])).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      retryAfterMs: 3000,
      message: expect.stringContaining('529 fake failure') as string,
    })
  })

  it('inside a stream is an error, not half an answer', async () => {
    const fake = await fakeOf(() => 'one two')
    fake.dropNext({ afterBytes: 500 })
    await expect(claudeAt(fake).complete([question], { onDelta: () => {} })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    })
  })

  it('that a stream sends after its head is known by its words', async () => {
    const events = [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"claude-x","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}',
      'event: ping\ndata: {"type":"ping"}',
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    ]
    let alive = 0
    await withStream(events, async (baseURL) => {
      const claude = createClaude({ model: 'claude-x', baseURL })
      const asking = claude.complete([question], { onDelta: () => {}, onAlive: () => alive++ })
      await expect(asking).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message: 'model claude-x: Overloaded' })
    })
    expect(alive).toBeGreaterThan(2)
  })
})

describe('an answer', () => {
  const begin =
    'data: {"type":"message_start","message":{"model":"claude-x-1","usage":{"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":7,"output_tokens":1}}}'
  const text = [
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ü"}}',
    'data: {"type":"content_block_stop","index":0}',
  ]
  const named = (events: string[]): string[] =>
    events.map((data) => `event: ${/"type":"(\w+)"/.exec(data)?.[1] ?? ''}\n${data}`)
  const endedBy = (reason: string): string[] =>
    named([
      begin,
      ...text,
      `data: {"type":"message_delta","delta":{"stop_reason":"${reason}"},"usage":{"output_tokens":20}}`,
      'data: {"type":"message_stop"}',
    ])
  const ask = (baseURL: string, options: Partial<ClaudeOptions> = {}): Promise<Completion> =>
    createClaude({ model: 'claude-x', baseURL, ...options }).complete([question], { onDelta: () => {} })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'length'],
    ['refusal', 'refusal'],
    ['something_new', 'stop'],
  ])('that ended by %s is finished by %s', async (reason, finishReason) => {
    await withStream(endedBy(reason), async (url) => {
      expect(await ask(url)).toMatchObject({ content: 'Ü', finishReason, model: 'claude-x-1' })
    })
  })

  it('counts cached tokens as read, and prices reads and writes of the cache', async () => {
    const prices = { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }
    await withStream(endedBy('end_turn'), async (url) => {
      expect((await ask(url, { prices })).usage).toEqual({
        inputTokens: 20,
        outputTokens: 20,
        cachedTokens: 10,
        costUsd: (3 * 3 + 10 * 0.3 + 7 * 3.75 + 20 * 15) / 1e6,
      })
    })
  })

  it('is none before its end', async () => {
    await withStream(endedBy('end_turn').slice(0, 4), async (url) => {
      await expect(ask(url)).rejects.toMatchObject({
        code: 'MODEL_UNAVAILABLE',
        message: expect.stringContaining('broke off') as string,
      })
    })
  })
})

/** A server that sends these events to everybody. */
async function withStream(events: readonly string[], use: (baseURL: string) => Promise<void>): Promise<void> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `${event}\n\n`).join(''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
