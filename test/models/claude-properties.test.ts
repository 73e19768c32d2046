/** Properties of the Claude model that hold for every transcript and every cutting of a stream. */
import { createAnthropic } from '@ai-sdk/anthropic'
import fc from 'fast-check'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { Completion, Model, ModelDelta } from '../../src/core/model.ts'
import { aiSdk } from '../../src/models/ai-sdk/ai-sdk.ts'
import { createClaude } from '../../src/models/anthropic/claude.ts'
import type { ClaudeOptions } from '../../src/models/anthropic/claude-options.ts'
import { startFakeAnthropic, type FakeAnthropic, type Script } from '../../src/testing/index.ts'
import { transcript } from '../support/random-transcript.ts'
import { question, recordOf, TOOLS } from './claude-at-fake.ts'

const HELLO: Message = { role: 'user', content: 'hello' }
const KINDS: readonly [string, Partial<ClaudeOptions>][] = [
  ['claude-opus-5-5', { thinking: { type: 'adaptive', display: 'summarized' } }],
  ['claude-sonnet-5', {}],
  ['claude-sonnet-4-6', { thinking: { type: 'adaptive' } }],
  ['claude-haiku-4-5', { thinking: { type: 'enabled', budgetTokens: 1024 } }],
  ['claude-opus-5', { thinking: { type: 'disabled' }, cache: false }],
]
let fake: FakeAnthropic

beforeAll(async () => {
  // No two calls have the same id, as with Anthropic.
  const script: Script = ({ messages, call }) =>
    messages.at(-1)?.role === 'tool'
      ? { reasoning: 'It rains there.', content: 'Rain.' }
      : { reasoning: 'I must look.', content: 'I look.', toolCalls: [{ name: 'weather', id: `w${call}` }] }
  fake = await startFakeAnthropic({ script })
  return () => fake.close()
})
afterEach(() => vi.unstubAllGlobals())

/** Two rounds, with their thinking. */
async function talkOf(claude: Model): Promise<Message[]> {
  const talk: Message[] = []
  for (let n = 0; n < 2; n++) {
    talk.push({ ...question, content: `Weather ${n}?` })
    const asking = recordOf(await claude.complete(talk, { tools: TOOLS, onDelta: () => {} }))
    const toolCallId = asking.toolCalls?.[0]?.id ?? ''
    talk.push(asking, { role: 'tool', content: 'rain', toolCallId, name: 'weather' })
    talk.push(recordOf(await claude.complete(talk, { tools: TOOLS, onDelta: () => {} })))
  }
  return talk
}

function mixed(talk: Message[]): fc.Arbitrary<Message[]> {
  return fc
    .tuple(fc.subarray(talk), transcript, fc.nat(12), fc.boolean())
    .map(([mine, other, at, asking]) => [...mine.slice(0, at), ...other, ...mine.slice(at), ...(asking ? [HELLO] : [])])
}

it.each(KINDS)('no transcript is refused by %s, whatever it is made of', async (model, options) => {
  const claude = createClaude({ model, baseURL: fake.url, ...options })
  await fc.assert(
    fc.asyncProperty(mixed(await talkOf(claude)), fc.boolean(), async (messages, withTools) => {
      const answer = await claude.complete(messages, withTools ? { tools: TOOLS } : {})
      expect(answer.finishReason).not.toBe('refusal')
    }),
    { numRuns: 100 },
  )
})

it('no transcript is refused by way of the AI SDK either, where there are tools', async () => {
  const claude = aiSdk(createAnthropic({ baseURL: fake.url, apiKey: 'k' })('claude-opus-5-5'))
  await fc.assert(
    fc.asyncProperty(mixed(await talkOf(claude)), async (messages) => {
      await claude.complete(messages, { tools: TOOLS, onDelta: () => {} })
    }),
    { numRuns: 100 },
  )
})

/** Chance put an answer right in front of another one whose calls are being answered: in one run of very many. */
it.each([
  ['by its own API', () => createClaude({ model: 'claude-opus-5-5', baseURL: fake.url })],
  ['by way of the AI SDK', () => aiSdk(createAnthropic({ baseURL: fake.url, apiKey: 'k' })('claude-opus-5-5'))],
])('calls behind an answer of somebody else are not refused, %s', async (_, open) => {
  const claude = open()
  const [asked, asking, result] = await talkOf(claude)
  const messages = [asked, { role: 'assistant', content: 'Hello.' }, asking, result] as Message[]
  expect((await claude.complete(messages, { tools: TOOLS, onDelta: () => {} })).content).toBe('Rain.')
})

const EVENTS: object[] = [
  { type: 'message_start', message: { model: 'claude-x-1', usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Überlegen 🤔' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'ZGF0YQ==' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Grüße – ' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: '🌧️ 東京\n\ndata: no' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'a', name: 'look', input: {} } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"ört": "\\u00e9' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '🎓"}' } },
  { type: 'content_block_stop', index: 3 },
  { type: 'content_block_start', index: 4, content_block: { type: 'tool_use', id: 'b', name: 'look', input: {} } },
  { type: 'content_block_stop', index: 4 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } },
  { type: 'message_stop' },
]

it.each(['\n', '\r\n'])('any chunking of a stream with %j gives the same answer', async (end) => {
  const text = EVENTS.map((event) => {
    const { type } = event as { type: string }
    return `event: ${type}${end}data: ${JSON.stringify(event)}${end}${end}`
  }).join('')
  const bytes = new TextEncoder().encode(text)
  const once = await read([bytes])
  expect(once).toMatchObject({
    content: 'Grüße – 🌧️ 東京\n\ndata: no',
    toolCalls: [
      { id: 'a', arguments: '{"ört": "\\u00e9🎓"}' },
      { id: 'b', arguments: '{}' },
    ],
    provider: {
      anthropic: { blocks: [{ thinking: 'Überlegen 🤔', signature: 'c2ln' }, { data: 'ZGF0YQ==' }, {}, {}, {}] },
    },
    said: 'Überlegen 🤔',
  })
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
      const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
      expect(await read(ends.map((to, i) => bytes.slice(ends[i - 1] ?? 0, to)))).toEqual(once)
    }),
  )
  // Byte by byte.
  expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(once)
})

async function read(pieces: Uint8Array[]): Promise<Completion & { said: string }> {
  const body = ReadableStream.from(pieces)
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
  )
  const deltas: ModelDelta[] = []
  const claude = createClaude({ model: 'claude-opus-5', baseURL: 'http://127.0.0.1:9' })
  const answer = await claude.complete([question], { onDelta: (delta) => void deltas.push(delta) })
  return { ...answer, said: deltas.flatMap((delta) => (delta.type === 'reasoning' ? [delta.text] : [])).join('') }
}
