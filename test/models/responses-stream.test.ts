/** Streams that the fake server does not write: in the shapes of OpenAI itself, and of servers that imitate its API. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import type { Completion, ModelDelta } from '../../src/core/model.ts'
import { openai } from '../../src/models/openai/openai.ts'
import { chatEvents } from '../../src/models/openai/chat-events.ts'
import { readResponse } from '../../src/models/openai/responses-answer.ts'
import { toResponsesInput } from '../../src/models/openai/responses-input.ts'
import { readResponseStream } from '../../src/models/openai/responses-stream.ts'
import { rawProvider, sse, type RawAnswer } from '../support/raw-provider.ts'
import {
  begin,
  end,
  refuses,
  runsOutOfTokens,
  saysTwice,
  sendsWholeItems,
  thinksAndCalls,
  toText,
} from '../support/response-streams.ts'

const HELLO: Message[] = [{ role: 'user', content: 'hello' }]
const OWNER = { model: 'gpt-5.4', host: 'h' }

async function ask(answer: RawAnswer): Promise<Completion & { deltas: ModelDelta[] }> {
  const { url } = await rawProvider(answer)
  const deltas: ModelDelta[] = []
  const model = openai({
    model: 'gpt-5.4',
    baseURL: url,
    api: 'responses',
    prices: { input: 1, output: 2, cachedInput: 0.1 },
  })
  const completion = await model.complete(HELLO, { onDelta: (delta) => deltas.push(delta) })
  return { ...completion, deltas }
}

const textOf = (deltas: ModelDelta[], type: 'text' | 'reasoning'): string =>
  deltas.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('')

describe('a stream of the Responses API', () => {
  it('is put together from items as they ended, with usage and cost', async () => {
    const { deltas, ...completion } = await ask(sse(...thinksAndCalls()))
    expect(completion).toMatchObject({
      content: 'Grüße – 東京',
      toolCalls: [
        { id: 'call_a', name: 'get_weather', arguments: '{"city":"Tromsø"}' },
        { id: 'call_b', name: 'get_weather', arguments: '{"city":"Bodø"}' },
      ],
      finishReason: 'tool_calls',
      model: 'gpt-5.4-2026-03-05',
      usage: { inputTokens: 120, outputTokens: 40, cachedTokens: 100, costUsd: expect.closeTo(0.00011, 9) as number },
    })
    expect(JSON.stringify(completion.provider)).toContain('gAAAAABo-0123456789')
    expect(JSON.stringify(completion.provider)).not.toMatch(/gAAA-half|gAAA-other|status/)
    expect(textOf(deltas, 'reasoning')).toBe('**Ich prüfe** 🤔\n\nZwei Städte')
    expect(textOf(deltas, 'text')).toBe('Grüße – 東京')
    for (const [index, call] of completion.toolCalls.entries()) {
      const pieces = deltas.flatMap((delta) => (delta.type === 'toolCall' && delta.index === index ? [delta] : []))
      expect(pieces[0]).toMatchObject({ id: call.id, name: call.name })
      expect(pieces.map(({ arguments: text }) => text).join('')).toBe(call.arguments)
    }
  })

  it('with two messages is one text, and goes back as two messages with their phases', async () => {
    const { content, deltas, provider } = await ask(sse(...saysTwice()))
    expect([content, textOf(deltas, 'text')]).toEqual(['I look.\n\nRain.', 'I look.\n\nRain.'])
    const { host } = (provider?.['openai'] ?? {}) as { host: string }
    const record: Message = { role: 'assistant', content, ...(provider && { provider }) }
    expect(toResponsesInput([...HELLO, record], { ...OWNER, host }).input.slice(1)).toEqual([
      { type: 'message', role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'message', role: 'assistant', content: 'Rain.', phase: 'final_answer' },
    ])
  })

  it('that was cut off in a call has the beginning of the call', async () => {
    expect(await ask(sse(...runsOutOfTokens()))).toMatchObject({
      finishReason: 'length',
      toolCalls: [{ id: 'call_a', arguments: '{"city":"Tro' }],
    })
  })

  it.each([
    ['a refusal', refuses(), 'I cannot help with that.'],
    [
      'a filter',
      [...begin(), end([], { incomplete_details: { reason: 'content_filter' } }, 'response.incomplete')],
      '',
    ],
  ])('that ends with %s is refused', async (_, events, content) => {
    const { finishReason, content: said, deltas } = await ask(sse(...events))
    expect([finishReason, said, textOf(deltas, 'text')]).toEqual(['refusal', content, content])
  })

  it('without pieces tells its items when they are whole', async () => {
    const { deltas, toolCalls, provider } = await ask(sse(...sendsWholeItems()))
    expect(toolCalls).toMatchObject([{ id: 'call_a', arguments: '{"city":"Oslo"}' }])
    expect(deltas.slice(0, 2)).toMatchObject([
      { type: 'reasoning', text: 'Hm' },
      { type: 'toolCall', index: 0, id: 'call_a' },
    ])
    expect(deltas.map((delta) => (delta.type === 'toolCall' ? delta.arguments : '')).join('')).toBe('{"city":"Oslo"}')
    expect(JSON.stringify(provider)).toContain('rs_1')
  })

  it('is not required: a server that does not stream sends its answer whole', async () => {
    const { response } = saysTwice().at(-1) as { response: object }
    const { content, deltas } = await ask({
      headers: { 'content-type': 'application/json' },
      body: [JSON.stringify(response)],
    })
    expect([content, textOf(deltas, 'text')]).toEqual(['I look.\n\nRain.', 'I look.\n\nRain.'])
  })

  it.each([
    ['server_error', 'MODEL_UNAVAILABLE'],
    ['rate_limit_exceeded', 'MODEL_RATE_LIMITED'],
    ['insufficient_quota', 'MODEL_NO_CREDIT'],
    ['context_length_exceeded', 'MODEL_CONTEXT_TOO_LONG'],
    ['invalid_prompt', 'MODEL_REFUSED_REQUEST'],
    ['bio_policy', 'MODEL_REFUSED_REQUEST'],
    ['image_too_large', 'MODEL_REFUSED_REQUEST'],
  ])('that fails with %s throws %s, told by the response or by an event', async (code, expected) => {
    const error = { code, message: 'so it is' }
    const thrown = { code: expected, message: expect.stringContaining('so it is') as string }
    await expect(ask(sse(...begin(), end([], { error }, 'response.failed')))).rejects.toMatchObject(thrown)
    await expect(ask(sse(...begin(), { type: 'error', ...error, param: null }))).rejects.toMatchObject(thrown)
    await expect(ask(sse(...begin(), { type: 'error', error }))).rejects.toMatchObject(thrown)
  })

  it('that ends before the response may be tried again', async () => {
    const events = thinksAndCalls().slice(0, -1)
    for (const answer of [sse(...events), sse(...events, '[DONE]'), { ...sse(...events), breaks: true }]) {
      await expect(ask(answer)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
    }
  })

  it('that is no stream and no answer says what it was', async () => {
    const html = { headers: { 'content-type': 'text/html' }, body: ['<h1>Bad gateway</h1>'] }
    await expect(ask(html)).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('Bad gateway') as string,
    })
  })
})

describe('reasoning that would be refused', () => {
  const backFrom = (output: object[]): object[] => {
    const { response } = end(output) as { response: Parameters<typeof readResponse>[0] }
    const { provider, content } = readResponse(response, OWNER)
    const record: Message = { role: 'assistant', content, ...(provider && { provider }) }
    return toResponsesInput([...HELLO, record], OWNER).input.slice(1)
  }
  const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'So far' }] }
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }

  it('because nothing follows it stays behind', () => {
    expect(backFrom([said, thought])).toMatchObject([{ role: 'assistant', content: 'So far' }])
    expect(backFrom([thought, said])).toMatchObject([{ type: 'reasoning' }, { role: 'assistant' }])
  })

  it('because it has no content of its own stays behind', () => {
    const unknown = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] }
    expect(backFrom([unknown, said])).toEqual([{ type: 'message', role: 'assistant', content: 'So far' }])
  })

  it('because it is too long for a record stays behind, and the call goes without it', () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' }
    const long = { ...thought, encrypted_content: 'x'.repeat(1024 * 1024) }
    const { response } = end([long, call]) as { response: Parameters<typeof readResponse>[0] }
    const { provider, toolCalls } = readResponse(response, OWNER)
    expect(JSON.stringify(provider).length).toBeLessThan(1000)
    const record: Message = { role: 'assistant', content: '', toolCalls, ...(provider && { provider }) }
    const result: Message = { role: 'tool', content: 'x', toolCallId: 'call_1', name: 'look' }
    expect(toResponsesInput([...HELLO, record, result], OWNER).input.slice(1)).toMatchObject([
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output' },
    ])
  })
})

describe('however a network cuts it', () => {
  async function read(pieces: Uint8Array[]): Promise<Completion & { said: string }> {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift()
        if (piece) controller.enqueue(piece)
        else controller.close()
      },
    })
    const deltas: ModelDelta[] = []
    const events = chatEvents(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
    const completion = readResponse(await readResponseStream(events, (delta) => deltas.push(delta)), OWNER)
    return { ...completion, said: JSON.stringify(deltas) }
  }

  it.each([
    ['thinks and calls', toText(thinksAndCalls())],
    ['says twice, with CRLF', toText(saysTwice(), '\r\n')],
    ['refuses', toText(refuses())],
  ])('the answer that %s is the same', async (_, text) => {
    const bytes = new TextEncoder().encode(text)
    const once = await read([bytes])
    expect(once.said).not.toContain('\uFFFD')
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
        const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
        expect(await read(ends.map((to, i) => bytes.slice(ends[i - 1] ?? 0, to)))).toEqual(once)
      }),
    )
    // Byte by byte.
    expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(once)
  })
})
