/**
 * Turns the answer of a chat completion, plain or streamed, into our completion. Fields that compatible servers leave
 * out may be missing.
 */
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import type { CompletionUsage } from 'openai/resources/completions'
import { StelloError } from '../../core/errors.ts'
import { preview, type ToolCall, type Usage } from '../../core/message.ts'
import type { Completion, ModelDelta } from '../../core/model.ts'
import { costOf, type Prices } from '../prices.ts'
import { toText, ToolCallPieces } from './tool-call-pieces.ts'

/** @throws StelloError MODEL_UNAVAILABLE when the body is no answer */
export function readAnswer(body: ChatCompletion, prices?: Prices): Completion {
  const choice = (body as Partial<ChatCompletion>).choices?.[0]
  if (!choice?.message) {
    throw new StelloError(
      'MODEL_UNAVAILABLE',
      `the server sent no answer but ${preview(JSON.stringify(body) ?? '', 200)}`,
    )
  }
  const { content, refusal, tool_calls: calls } = choice.message
  const toolCalls = (calls ?? []).flatMap((call, index): ToolCall[] =>
    'function' in call
      ? [{ id: call.id || `call_${index}`, name: call.function.name, arguments: toText(call.function.arguments) }]
      : [],
  )
  const finish = refusal ? 'content_filter' : choice.finish_reason
  return toCompletion(
    { model: body.model, content: content || refusal || '', calls: toolCalls, finish, usage: body.usage },
    prices,
  )
}

/** @throws StelloError MODEL_UNAVAILABLE when the stream ends before the answer does */
export async function readStream(
  chunks: AsyncIterable<ChatCompletionChunk>,
  onDelta: (delta: ModelDelta) => void,
  prices?: Prices,
): Promise<Completion> {
  const pieces = new ToolCallPieces()
  let content = ''
  let refused = false
  let finish: string | undefined
  let usage: CompletionUsage | undefined
  let model: string | undefined
  for await (const chunk of chunks) {
    usage = chunk.usage ?? usage
    model = chunk.model || model
    const choice = (chunk as Partial<ChatCompletionChunk>).choices?.[0]
    finish = choice?.finish_reason ?? finish
    const { content: said, refusal, tool_calls: calls } = choice?.delta ?? {}
    const text = said || refusal || ''
    refused ||= Boolean(refusal)
    content += text
    if (text) onDelta({ type: 'text', text })
    for (const call of calls ?? []) onDelta(pieces.add(call))
  }
  if (finish === undefined)
    throw new StelloError('MODEL_UNAVAILABLE', 'the stream broke off before the answer was complete')
  return toCompletion(
    { model, content, calls: pieces.calls, finish: refused ? 'content_filter' : finish, usage },
    prices,
  )
}

interface Answered {
  /** What the server says who answered: often a dated name of the model that was asked. */
  model: unknown
  content: string
  calls: ToolCall[]
  finish: string | null
  usage?: CompletionUsage | undefined
}

function toCompletion({ model, content, calls, finish, usage }: Answered, prices: Prices | undefined): Completion {
  const toolCalls = withUniqueIds(calls)
  return {
    content,
    toolCalls,
    usage: toUsage(usage, prices),
    finishReason: toFinishReason(finish, toolCalls.length > 0),
    ...(typeof model === 'string' && model !== '' && { model }),
  }
}

function withUniqueIds(calls: readonly ToolCall[]): ToolCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    let { id } = call
    while (taken.has(id)) id = `${id}_${index}`
    taken.add(id)
    return { ...call, id }
  })
}

function toFinishReason(reason: string | null, calls: boolean): Completion['finishReason'] {
  if (reason === 'length') return 'length'
  if (reason === 'content_filter') return 'refusal'
  // Some servers write `stop` although the answer has calls.
  return calls ? 'tool_calls' : 'stop'
}

function toUsage(usage: CompletionUsage | undefined, prices: Prices | undefined): Usage {
  const { prompt_tokens: inputTokens = 0, completion_tokens: outputTokens = 0 } = usage ?? {}
  const cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? 0
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(prices &&
      usage && { costUsd: costOf({ input: inputTokens, output: outputTokens, read: cachedTokens }, prices) }),
  }
}
