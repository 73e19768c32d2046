/** Servers that speak chat completions in their own way, over real HTTP. What counts is what they mean. */
import { describe, expect, it } from 'vitest'
import type { ModelDelta } from '../../src/core/model.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { asOne, HELLO, streamed } from '../support/dialect-answers.ts'
import { chunk, rawProvider, sse, type RawAnswer } from '../support/raw-provider.ts'

function said(deltas: ModelDelta[], type: 'text' | 'reasoning'): string {
  return deltas.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('')
}

const unavailable = { code: 'MODEL_UNAVAILABLE', fate: 'retry' }
const DONE = '[DONE]'

describe('content in parts, as Mistral sends it', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Two and two' }] }
  const text = { type: 'text', text: 'Four.' }

  it('streams thoughts as reasoning and text as the answer', async () => {
    const answer = await streamed(
      sse(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: [thinking] }),
        chunk({ content: [text] }, 'stop'),
      ),
    )
    expect(answer.content).toBe('Four.')
    expect([said(answer.deltas, 'reasoning'), said(answer.deltas, 'text')]).toEqual(['Two and two', 'Four.'])
  })

  it('is the same in a whole answer', async () => {
    expect(await asOne({ role: 'assistant', content: [thinking, text, ' Yes.', { type: 'image_url' }] })).toMatchObject(
      {
        content: 'Four. Yes.',
      },
    )
  })
})

describe('reasoning beside the answer', () => {
  it.each(['reasoning_content', 'reasoning'])('in %s is shown, never answered', async (field) => {
    const answer = await streamed(
      sse(chunk({ [field]: 'Hm. ' }), chunk({ [field]: 'So:' }), chunk({ content: 'Yes.' }, 'stop')),
    )
    expect(answer.content).toBe('Yes.')
    expect(said(answer.deltas, 'reasoning')).toBe('Hm. So:')
  })

  it('that a server sends under two names is shown once', async () => {
    const answer = await streamed(
      sse(chunk({ reasoning: 'Hm.', reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }, 'stop')),
    )
    expect(said(answer.deltas, 'reasoning')).toBe('Hm.')
  })
})

describe('the end of a stream', () => {
  const half = chunk({ content: 'half an ans' })

  it('is reached by [DONE] without a finish reason', async () => {
    expect(await streamed(sse(half, DONE))).toMatchObject({ content: 'half an ans', finishReason: 'stop' })
  })

  it('is reached where the body ends if no reason was ever given', async () => {
    expect(await streamed(sse(half))).toMatchObject({ content: 'half an ans', finishReason: 'stop' })
  })

  it('is reached by [DONE] also where every reason was empty', async () => {
    expect(await streamed(sse(chunk({ content: 'Hi' }, ''), DONE))).toMatchObject({
      content: 'Hi',
      finishReason: 'stop',
    })
  })

  it.each([
    ['the reasons were empty and the connection breaks', { ...sse(chunk({ content: 'half' }, '')), breaks: true }],
    ['the reasons were empty and the body ends', sse(chunk({ content: 'half' }, ''))],
    ['no reason was given and the connection breaks', { ...sse(half), breaks: true }],
    [
      'the connection has no other end than to break',
      { ...sse(half), headers: { connection: 'close', 'transfer-encoding': 'identity' } },
    ],
    [
      'a call has half its arguments',
      sse(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{"n' } }] })),
    ],
    ['nothing was said', sse(DONE)],
    ['the last event is half', { body: [`data: ${JSON.stringify(half)}\n\ndata: {"choi`] }],
  ] satisfies [string, RawAnswer][])('is not reached where %s: it is asked again', async (_, answer) => {
    await expect(streamed(answer)).rejects.toMatchObject(unavailable)
  })

  it.each(['insufficient_system_resource', 'error', 'abort', 'function_call_filter: MALFORMED_FUNCTION_CALL'])(
    'with the reason %s is no end: it is asked again',
    async (reason) => {
      await expect(streamed(sse(chunk({ content: 'Hal' }), chunk({}, reason), DONE))).rejects.toMatchObject(unavailable)
      await expect(asOne({ content: 'Hal' }, reason)).rejects.toMatchObject(unavailable)
    },
  )

  it.each([
    ['max_tokens', 'length'],
    ['model_length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'refusal'],
    ['eos', 'stop'],
    ['function_call', 'stop'],
  ])('with the reason %s means %s', async (reason, finishReason) => {
    expect(await asOne({ content: 'Well' }, reason)).toMatchObject({ finishReason })
    expect(await streamed(sse(chunk({ content: 'Well' }, reason)))).toMatchObject({ finishReason })
  })
})

describe('a server that ignores that a stream was asked for', () => {
  it('gives its whole answer, and people are shown it', async () => {
    const message = {
      content: 'So:',
      reasoning_content: 'Hm.',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: { n: 1 } } }],
    }
    const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
    const answer = await streamed({ headers: { 'content-type': 'application/json' }, body: [body] })
    const call = { id: 'a', name: 'look', arguments: '{"n":1}' }
    expect(answer).toMatchObject({ content: 'So:', toolCalls: [call], finishReason: 'tool_calls' })
    expect(answer.deltas).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'So:' },
      { type: 'toolCall', index: 0, ...call },
    ])
  })
})

describe('usage', () => {
  const hi = chunk({ content: 'Hi' }, 'stop')
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }

  it.each([
    ['in a last chunk without choices', sse(hi, { choices: [], usage }, DONE)],
    [
      'in every chunk, growing',
      sse(
        chunk({ content: 'H' }, null, { usage: { ...usage, completion_tokens: 1 } }),
        chunk({ content: 'i' }, 'stop', { usage }),
      ),
    ],
    [
      'in a chunk before one that counts nothing',
      sse(
        chunk({ content: 'H' }, null, { usage }),
        chunk({ content: 'i' }, 'stop', { usage: { prompt_tokens: 0, completion_tokens: 0 } }),
      ),
    ],
    ["in Groq's own place", sse(chunk({ content: 'Hi' }, 'stop', { x_groq: { id: 'r', usage } }))],
    ["in Moonshot's place", sse({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop', usage }] })],
    ['under newer names', sse(chunk({ content: 'Hi' }, 'stop', { usage: { input_tokens: 10, output_tokens: 2 } }))],
  ])('is found %s', async (_, answer) => {
    expect((await streamed(answer)).usage).toEqual({ inputTokens: 10, outputTokens: 2 })
  })

  it('that a server never tells counts nothing', async () => {
    expect((await streamed(sse(hi, DONE))).usage).toEqual({ inputTokens: 0, outputTokens: 0 })
  })

  it.each([
    { prompt_tokens_details: { cached_tokens: 8 } },
    { prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 },
    { cached_tokens: 8 },
    { input_tokens_details: { cached_tokens: 8 } },
    { prompt_tokens_details: null, cache_read_input_tokens: 8 },
  ])('knows what came from the cache, as in %j', async (cached) => {
    expect((await asOne({ content: 'Hi' }, 'stop', { usage: { ...usage, ...cached } })).usage).toEqual({
      inputTokens: 10,
      outputTokens: 2,
      cachedTokens: 8,
    })
  })

  it('counts tokens of reasoning that only the total includes', async () => {
    expect(
      (await asOne({ content: 'Hi' }, 'stop', { usage: { ...usage, total_tokens: 112 } })).usage.outputTokens,
    ).toBe(102)
  })
})

describe('events', () => {
  const [first, last] = [chunk({ content: 'Grüße ' }), chunk({ content: '🌧️' }, 'stop')].map((each) =>
    JSON.stringify(each),
  )

  it.each([
    ['with CRLF', `data: ${first}\r\n\r\ndata: ${last}\r\n\r\ndata: [DONE]\r\n\r\n`],
    [
      'with comments that keep it alive',
      `: ping\n\n:\n\ndata: ${first}\n\n: OPENROUTER PROCESSING\n\ndata: ${last}\n\n`,
    ],
    ['without a space', `data:${first}\n\ndata:${last}\n\ndata:[DONE]\n\n`],
    ['with names and ids', `event: message\nid: 1\ndata: ${first}\n\nevent: message\nid: 2\ndata: ${last}\n\n`],
    ['without an empty line at the end', `data: ${first}\n\ndata: ${last}\n\ndata: [DONE]`],
  ])('are read %s', async (_, body) => {
    expect(await streamed({ body: [body] })).toMatchObject({ content: 'Grüße 🌧️', finishReason: 'stop' })
  })

  it.each([
    [{ error: { message: 'Rate limit reached', type: 'rate_limit_error' } }, 'MODEL_RATE_LIMITED'],
    [{ error: { message: 'Provider returned error', code: 502 } }, 'MODEL_UNAVAILABLE'],
    [{ error: { message: 'No such parameter', code: 400 } }, 'MODEL_REFUSED_REQUEST'],
    [{ error: 'out of memory' }, 'MODEL_UNAVAILABLE'],
    [{ object: 'error', message: 'This prompt is too long', code: 400 }, 'MODEL_CONTEXT_TOO_LONG'],
  ])('that are an error are one: %j', async (error, code) => {
    await expect(streamed(sse(chunk({ content: 'Hal' }), error, DONE))).rejects.toMatchObject({ code })
  })

  it('that come from a proxy and not from a provider are no answer', async () => {
    const body = ['<html><h1>Please wait</h1></html>']
    await expect(streamed({ headers: { 'content-type': 'text/html' }, body })).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining('Please wait') as string,
    })
    await expect(streamed({ body })).rejects.toMatchObject(unavailable)
    await expect(streamed({ status: 502, headers: { 'content-type': 'text/html' }, body })).rejects.toMatchObject(
      unavailable,
    )
  })
})

it('an error with status 200 in a whole answer is one', async () => {
  const { url } = await rawProvider({
    headers: { 'content-type': 'application/json' },
    body: ['{"error":{"message":"Rate limited","code":429}}'],
  })
  await expect(openai({ model: 'any', baseURL: url, apiKey: 'k' }).complete(HELLO)).rejects.toMatchObject({
    code: 'MODEL_RATE_LIMITED',
  })
})
