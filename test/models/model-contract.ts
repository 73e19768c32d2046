/** The contract of every model. It is run for each implementation, and each of them answers from a script. */
import { describe, expect, it } from 'vitest'
import { isStelloError } from '../../src/core/errors.ts'
import type { Message } from '../../src/core/message.ts'
import type { CompleteOptions, Model, ModelDelta, ToolSpec } from '../../src/core/model.ts'
import type { Script, ScriptRequest } from '../../src/testing/index.ts'

const QUESTION: Message[] = [{ role: 'user', content: 'Weather in Oslo and Bergen?' }]
const TOOLS: ToolSpec[] = [
  {
    name: 'get_weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
]
const TWO_CALLS = [
  { name: 'get_weather', arguments: { city: 'Oslo' }, id: 'a' },
  { name: 'get_weather', arguments: { city: 'Bergen' }, id: 'b' },
]

/**
 * @param streaming whether the model is asked for pieces of its answer
 * @param keepsBroken whether arguments that are no JSON come through
 * @param namesModelAtEnd whether a stream can still say at its end which model answered
 */
export function modelContract(
  name: string,
  make: (script: Script) => Promise<Model>,
  {
    streaming,
    namesModelAtEnd = true,
    keepsBroken = true,
  }: { streaming: boolean; namesModelAtEnd?: boolean; keepsBroken?: boolean },
): void {
  const listener = (): CompleteOptions => (streaming ? { onDelta: () => {} } : {})

  describe(`${name}, as any model`, () => {
    it('answers with text', async () => {
      const model = await make(['Rain in\n  both – 🌧️ '])
      const { content, toolCalls, finishReason } = await model.complete(QUESTION, listener())
      expect({ content, toolCalls, finishReason }).toEqual({
        content: 'Rain in\n  both – 🌧️ ',
        toolCalls: [],
        finishReason: 'stop',
      })
    })

    it('asks for several tools at once', async () => {
      const model = await make([{ content: 'I look.', toolCalls: TWO_CALLS }])
      const { content, toolCalls, finishReason } = await model.complete(QUESTION, { ...listener(), tools: TOOLS })
      expect({ content, finishReason }).toEqual({ content: 'I look.', finishReason: 'tool_calls' })
      expect(toolCalls).toEqual([
        { id: 'a', name: 'get_weather', arguments: '{"city":"Oslo"}' },
        { id: 'b', name: 'get_weather', arguments: '{"city":"Bergen"}' },
      ])
    })

    if (keepsBroken) {
      it('passes broken arguments on as they are', async () => {
        const model = await make([{ toolCalls: [{ name: 'get_weather', arguments: '{"city": "Os' }] }])
        const { toolCalls } = await model.complete(QUESTION, { ...listener(), tools: TOOLS })
        expect(toolCalls).toMatchObject([{ arguments: '{"city": "Os' }])
      })
    }

    if (!streaming || namesModelAtEnd) {
      it('says which model answered', async () => {
        const model = await make([{ content: 'Rain.', model: 'rain-2026-01-01' }])
        expect(await model.complete(QUESTION, listener())).toMatchObject({ model: 'rain-2026-01-01' })
      })
    }

    it('counts its tokens', async () => {
      const model = await make([{ content: 'Rain.', usage: { inputTokens: 12, outputTokens: 3, cachedTokens: 8 } }])
      const { usage } = await model.complete(QUESTION, listener())
      expect(usage).toEqual({ inputTokens: 12, outputTokens: 3, cachedTokens: 8 })
    })

    it('says when an answer was cut or refused', async () => {
      const model = await make([
        { content: 'Rain in', finishReason: 'length' },
        { content: 'No.', finishReason: 'refusal' },
      ])
      expect(await model.complete(QUESTION, listener())).toMatchObject({ finishReason: 'length' })
      expect(await model.complete(QUESTION, listener())).toMatchObject({ finishReason: 'refusal' })
    })

    it('shows the model the whole exchange and the tools', async () => {
      const seen: ScriptRequest[] = []
      const model = await make((request) => {
        seen.push(request)
        return 'Rain.'
      })
      const messages: Message[] = [
        { role: 'system', content: 'You know the weather.' },
        ...QUESTION,
        { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
        { role: 'tool', content: 'rain', toolCallId: 'a', name: 'get_weather' },
      ]
      await model.complete(messages, { ...listener(), tools: TOOLS })
      expect(seen).toMatchObject([{ messages, tools: TOOLS }])
    })

    it('stops when it is aborted while it thinks', async () => {
      const abort = new AbortController()
      const model = await make(() => {
        abort.abort()
        return new Promise(() => {})
      })
      const error = await model
        .complete(QUESTION, { ...listener(), signal: abort.signal })
        .catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(Error)
      expect(isStelloError(error)).toBe(false)
    })

    it('does not begin if it was aborted before', async () => {
      const model = await make(['Rain.'])
      await expect(model.complete(QUESTION, { ...listener(), signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
    })

    it('throws what is wrong as a code, with the time to wait', async () => {
      const model = await make([{ error: { code: 'MODEL_RATE_LIMITED', message: 'slow down', retryAfterMs: 1500 } }])
      await expect(model.complete(QUESTION, listener())).rejects.toMatchObject({
        code: 'MODEL_RATE_LIMITED',
        retryAfterMs: 1500,
        message: expect.stringContaining('slow down') as string,
      })
    })

    if (streaming) streamContract(make)
  })
}

function streamContract(make: (script: Script) => Promise<Model>): void {
  it('sends pieces that add up to the answer', async () => {
    const model = await make([{ content: 'I look at the map.', toolCalls: TWO_CALLS }])
    const deltas: ModelDelta[] = []
    const { content, toolCalls } = await model.complete(QUESTION, {
      tools: TOOLS,
      onDelta: (delta) => deltas.push(delta),
    })

    const texts = deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : []))
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join('')).toBe(content)
    for (const [index, call] of toolCalls.entries()) {
      const pieces = deltas.flatMap((delta) => (delta.type === 'toolCall' && delta.index === index ? [delta] : []))
      expect(pieces.length).toBeGreaterThan(1)
      expect(pieces[0]).toMatchObject({ id: call.id, name: call.name })
      expect(pieces.map((piece) => piece.arguments).join('')).toBe(call.arguments)
    }
  })

  it('sends nothing more after it was aborted within its answer', async () => {
    const abort = new AbortController()
    const model = await make([{ deltas: Array.from({ length: 50 }, (_, i) => `${i} `) }])
    let pieces = 0
    const onDelta = (): void => {
      pieces++
      abort.abort()
    }
    await expect(model.complete(QUESTION, { onDelta, signal: abort.signal })).rejects.toThrow(/abort/i)
    expect(pieces).toBe(1)
  })
}
