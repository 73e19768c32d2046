/** Turns our answers and errors into the chat completions format, whole and as chunks. */
import type OpenAI from 'openai'
import type { Usage } from '../core/message.ts'
import type { Completion, ModelDelta } from '../core/model.ts'

const FINISH = { stop: 'stop', tool_calls: 'tool_calls', length: 'length', refusal: 'content_filter' } as const

interface Head {
  id: string
  model: string
}

export function toChatCompletion(
  { id, model: asked }: Head,
  { content, toolCalls, usage, finishReason, model = asked }: Completion,
  { thoughts, extra }: { thoughts: string; extra(index: number): object },
): OpenAI.ChatCompletion {
  const calls = toolCalls.map(({ id: callId, name, arguments: args }, index) => ({
    id: callId,
    type: 'function' as const,
    function: { name, arguments: args },
    ...extra(index),
  }))
  const message = {
    role: 'assistant' as const,
    content: content || null,
    refusal: null,
    ...(thoughts !== '' && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    id,
    model,
    object: 'chat.completion',
    created: 0,
    choices: [{ index: 0, message, finish_reason: FINISH[finishReason], logprobs: null }],
    usage: toChatUsage(usage),
  }
}

/** @param extra what goes with the first piece of a call */
export function toChunk(
  head: Head,
  delta: ModelDelta,
  extra: (index: number) => object = () => ({}),
): OpenAI.ChatCompletionChunk {
  if (delta.type === 'text') return chunk(head, { content: delta.text })
  // As DeepSeek and most open servers name it.
  if (delta.type === 'reasoning') return chunk(head, { reasoning_content: delta.text } as object)
  const { index, id, name, arguments: args } = delta
  const begin = { ...(id !== undefined && { id, type: 'function' as const, ...extra(index) }) }
  return chunk(head, {
    tool_calls: [{ index, ...begin, function: { ...(name !== undefined && { name }), arguments: args } }],
  })
}

export function lastChunks(
  { id, model: asked }: Head,
  { finishReason, usage, model = asked }: Completion,
  withUsage: boolean,
): OpenAI.ChatCompletionChunk[] {
  const head = { id, model }
  const end = chunk(head, {}, FINISH[finishReason])
  return withUsage ? [end, { ...chunk(head, {}), choices: [], usage: toChatUsage(usage) }] : [end]
}

function chunk(
  { id, model }: Head,
  delta: OpenAI.ChatCompletionChunk.Choice.Delta,
  finish: OpenAI.ChatCompletionChunk.Choice['finish_reason'] = null,
): OpenAI.ChatCompletionChunk {
  return {
    id,
    model,
    object: 'chat.completion.chunk',
    created: 0,
    choices: [{ index: 0, delta, finish_reason: finish }],
  }
}

function toChatUsage({ inputTokens, outputTokens, cachedTokens }: Usage): OpenAI.CompletionUsage {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  }
}

export function errorBody(status: number, message: string, code?: string): unknown {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, param: null, code: code ?? null } }
}
