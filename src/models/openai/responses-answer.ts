/**
 * Turns a whole response of the Responses API into our completion. Other servers than OpenAI's may leave out fields.
 */
import type { Response, ResponseOutputItem, ResponseUsage } from 'openai/resources/responses/responses'
import { StelloError } from '../../core/errors.ts'
import { preview, type Usage } from '../../core/message.ts'
import type { Completion } from '../../core/model.ts'
import { costOf, type Prices } from '../prices.ts'
import { ToldError } from './chat-events.ts'
import { BETWEEN_TEXTS, isRefusal, keepItems, textOf, type Owner } from './openai-data.ts'
import { toText } from './tool-call-pieces.ts'

/**
 * @throws StelloError MODEL_UNAVAILABLE when the body is no response
 * @throws ToldError when the response has failed
 */
export function readResponse(response: Response, owner: Owner, prices?: Prices): Completion {
  const { output, status, error, incomplete_details: incomplete, usage, model } = response as Partial<Response>
  if (error || status === 'failed') throw new ToldError(error ?? { message: 'the response failed' })
  if (!Array.isArray(output)) {
    throw new StelloError(
      'MODEL_UNAVAILABLE',
      `the server sent no answer but ${preview(JSON.stringify(response) ?? '', 200)}`,
    )
  }
  const { content, toolCalls, refused } = readOutput(output)
  const provider = keepItems(output, owner)
  return {
    content,
    toolCalls,
    usage: toUsage(usage, prices),
    finishReason: toFinishReason(refused ? 'content_filter' : incomplete?.reason, status, toolCalls.length > 0),
    ...(typeof model === 'string' && model !== '' && { model }),
    ...(provider && { provider }),
  }
}

function readOutput(output: readonly ResponseOutputItem[]): Pick<Completion, 'content' | 'toolCalls'> & {
  refused: boolean
} {
  const messages = output.filter((item) => item.type === 'message')
  const calls = output.filter((item) => item.type === 'function_call')
  return {
    content: messages
      .map(textOf)
      .filter((text) => text !== '')
      .join(BETWEEN_TEXTS),
    toolCalls: calls.map(({ call_id: id, name, arguments: args }) => ({ id, name, arguments: toText(args) })),
    refused: messages.some(isRefusal),
  }
}

function toFinishReason(
  reason: string | undefined,
  status: Response['status'],
  calls: boolean,
): Completion['finishReason'] {
  if (reason === 'content_filter') return 'refusal'
  if (reason !== undefined || status === 'incomplete') return 'length'
  return calls ? 'tool_calls' : 'stop'
}

function toUsage(usage: ResponseUsage | undefined, prices: Prices | undefined): Usage {
  // The tokens of the output include those of the reasoning.
  const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0 } = usage ?? {}
  const details = usage?.input_tokens_details as Partial<ResponseUsage.InputTokensDetails> | undefined
  const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = details ?? {}
  return {
    inputTokens,
    outputTokens,
    ...(read > 0 && { cachedTokens: read }),
    ...(prices && usage && { costUsd: costOf({ input: inputTokens, output: outputTokens, read, written }, prices) }),
  }
}
