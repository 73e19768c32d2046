/** Answers of servers that deviate from the standard. Answers that keep to it are tested in the contract suite. */
import { describe, expect, it } from 'vitest'
import type { Completion, ModelDelta } from '../../src/core/model.ts'
import { readAnswer, readStream } from '../../src/models/openai/chat-answer.ts'
import type { ChatEvent } from '../../src/models/openai/chat-events.ts'
import type { Prices } from '../../src/models/prices.ts'

interface Chunk {
  delta?: object
  finish?: string
  usage?: object | null
}

async function stream(chunks: Chunk[], prices?: Prices): Promise<Completion & { deltas: ModelDelta[] }> {
  const deltas: ModelDelta[] = []
  async function* arrive(): AsyncGenerator<ChatEvent> {
    for (const { delta, finish = null, usage } of chunks) {
      const choices = delta || finish ? [{ index: 0, delta: delta ?? {}, finish_reason: finish }] : []
      yield { data: { choices, usage } }
    }
  }
  return { ...(await readStream(arrive(), (delta) => deltas.push(delta), { prices })), deltas }
}

function calls(...pieces: object[]): Promise<Completion & { deltas: ModelDelta[] }> {
  return stream([...pieces.map((piece) => ({ delta: { tool_calls: [piece] } })), { finish: 'tool_calls' }])
}

function answer(message: object, finish = 'stop', more: object = {}): Completion {
  return readAnswer({ choices: [{ index: 0, message, finish_reason: finish }], ...more })
}

const call = (id: string, args: string): object => ({ id, name: 'look', arguments: args })

describe('streamed tool calls', () => {
  it('are put together by index, also when their pieces alternate', async () => {
    const { toolCalls } = await calls(
      { index: 0, id: 'a', function: { name: 'look', arguments: '' } },
      { index: 1, id: 'b', function: { name: 'look', arguments: '{"n"' } },
      { index: 0, function: { arguments: '{}' } },
      { index: 1, function: { arguments: ':2}' } },
    )
    expect(toolCalls).toEqual([call('a', '{}'), call('b', '{"n":2}')])
  })

  it('without an index are told apart by their ids', async () => {
    const { toolCalls } = await calls(
      { id: 'a', function: { name: 'look', arguments: '{"n":' } },
      { function: { arguments: '1}' } },
      { id: 'b', function: { name: 'look', arguments: '{"n":2}' } },
    )
    expect(toolCalls).toEqual([call('a', '{"n":1}'), call('b', '{"n":2}')])
  })

  it('that all have index 0 are told apart by their ids', async () => {
    const { toolCalls } = await calls(
      { index: 0, id: 'a', function: { name: 'look', arguments: '{}' } },
      { index: 0, id: 'b', function: { name: 'look', arguments: '{"n":2}' } },
      { index: 0, function: { arguments: ' ' } },
    )
    expect(toolCalls).toEqual([call('a', '{}'), call('b', '{"n":2} ')])
  })

  it('that repeat id and name in every piece stay one call', async () => {
    const piece = (args: string): object => ({ index: 0, id: 'a', function: { name: 'look', arguments: args } })
    expect((await calls(piece('{"n"'), piece(':1}'))).toolCalls).toEqual([call('a', '{"n":1}')])
  })

  it('without ids get one that is unique in the answer and told with the first piece', async () => {
    const { toolCalls, deltas } = await calls(
      { index: 0, function: { name: 'look', arguments: '{}' } },
      { index: 1, function: { name: 'look', arguments: '{}' } },
    )
    expect(toolCalls.map(({ id }) => id)).toEqual(['call_0', 'call_1'])
    expect(deltas.map((delta) => delta.type === 'toolCall' && delta.id)).toEqual(['call_0', 'call_1'])
  })

  it('are passed on as they are when their arguments are broken', async () => {
    expect((await calls({ index: 0, id: 'a', function: { name: 'look', arguments: '{"n": oops' } })).toolCalls).toEqual(
      [call('a', '{"n": oops')],
    )
  })

  it('become text again when the server has parsed their arguments', async () => {
    expect((await calls({ index: 0, id: 'a', function: { name: 'look', arguments: { n: 1 } } })).toolCalls).toEqual([
      call('a', '{"n":1}'),
    ])
  })
})

describe('a streamed answer', () => {
  it('without a finish reason broke off', async () => {
    await expect(stream([{ delta: { content: 'half' } }])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' })
  })

  it('counts nothing when the server reports no usage', async () => {
    const { usage } = await stream([{ delta: { content: 'Hi' }, finish: 'stop', usage: null }], { input: 1, output: 1 })
    expect(usage).toEqual({ inputTokens: 0, outputTokens: 0 })
  })

  it('costs what the prices say, cached input at its own price', async () => {
    const usage = {
      prompt_tokens: 1_000_000,
      completion_tokens: 500_000,
      prompt_tokens_details: { cached_tokens: 400_000 },
    }
    const completion = await stream([{ finish: 'stop' }, { usage }], { input: 2, output: 10, cachedInput: 0.5 })
    expect(completion.usage).toEqual({
      inputTokens: 1_000_000,
      outputTokens: 500_000,
      cachedTokens: 400_000,
      costUsd: 6.4,
    })
  })

  it('streams a refusal as its text', async () => {
    const completion = await stream([{ delta: { refusal: 'I will ' } }, { delta: { refusal: 'not.' }, finish: 'stop' }])
    expect(completion).toMatchObject({
      content: 'I will not.',
      finishReason: 'refusal',
      deltas: [{ text: 'I will ' }, { text: 'not.' }],
    })
  })
})

describe('a plain answer', () => {
  it('says which model the server named, where it named one', () => {
    expect(answer({ content: 'Rain.' }, 'stop', { model: 'm-2026' }).model).toBe('m-2026')
    for (const model of [undefined, '', null]) {
      expect(answer({ content: 'Rain.' }, 'stop', { model })).not.toHaveProperty('model')
    }
  })

  it('makes missing and repeated ids of calls unique', () => {
    const look = (id?: string): object => ({
      type: 'function',
      function: { name: 'look', arguments: '{}' },
      ...(id && { id }),
    })
    expect(answer({ content: null, tool_calls: [look('a'), look('a'), look()] }).toolCalls.map(({ id }) => id)).toEqual(
      ['a', 'a_1', 'call_2'],
    )
  })

  it('that asks for calls has that finish reason, whatever the server says', () => {
    const called = {
      content: 'So:',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
    }
    expect(answer(called)).toMatchObject({ content: 'So:', finishReason: 'tool_calls' })
    expect(answer(called, 'length').finishReason).toBe('length')
  })

  it('that was filtered or refused is a refusal', () => {
    expect(answer({ content: '' }, 'content_filter').finishReason).toBe('refusal')
    expect(answer({ content: null, refusal: 'No.' })).toMatchObject({ content: 'No.', finishReason: 'refusal' })
  })

  it('that holds no choice is no answer: the model may be asked again', () => {
    expect(() => readAnswer({ choices: [] })).toThrow(/no answer but \{"choices":\[\]\}/)
  })
})
