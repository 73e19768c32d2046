/** One call by the Chat Completions API. */
import type OpenAI from 'openai'
import type { Message } from '../../core/message.ts'
import type { CompleteOptions, Completion, ModelDelta } from '../../core/model.ts'
import { messagesBehind } from '../model-error.ts'
import { readProviderError } from '../provider-error.ts'
import { toCacheKey } from './cache-key.ts'
import { readAnswer, readStream } from './chat-answer.ts'
import { chatEvents, wholeInstead } from './chat-events.ts'
import { toChatMessages, toChatTools } from './chat-messages.ts'
import type { Connection } from './provider-connection.ts'
import type { OpenAIOptions } from './openai-options.ts'

type LimitName = 'max_tokens' | 'max_completion_tokens'

/** By host, which name of the token limit a server takes. It is kept as long as the model object lives. */
export type Learnt = Map<string, LimitName>

/** A request as the caller makes it, and where it goes. */
export interface CompletionRequest {
  connection: Connection
  options: OpenAIOptions
  messages: readonly Message[]
  /** `onDelta` asks for a stream. */
  asking: CompleteOptions
}

/**
 * @param learnt which name of the token limit each host takes. OpenAI's newer models refuse the old name on every host.
 *   Most other servers know only the old name
 * @throws what the client throws; ToldError; StelloError MODEL_UNAVAILABLE; after an abort between two pieces, the
 *   signal's reason
 */
export async function completeChat(request: CompletionRequest, learnt: Learnt): Promise<Completion> {
  const { connection, options, messages, asking } = request
  const { asked, dialect, official } = connection
  const sent = toChatMessages(messages, dialect)
  asked.behind = (index) => messagesBehind(messages, sent[index]?.from)
  const params = {
    ...toParams(options, asking.tools),
    ...toSettings(options, asking.tools, official ? asking.cacheKey : undefined),
  }
  const ask = (limit: LimitName): Promise<Completion> =>
    send(request, {
      ...params,
      messages: sent.map(({ param }) => param),
      ...(options.maxTokens !== undefined && { [limit]: options.maxTokens }),
    })
  const limit = learnt.get(asked.host) ?? 'max_tokens'
  try {
    return await ask(limit)
  } catch (error) {
    if (options.maxTokens === undefined || !refuses(error, limit)) throw error
    const other = limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
    learnt.set(asked.host, other)
    return ask(other)
  }
}

async function send(
  { connection, options, asking }: CompletionRequest,
  params: OpenAI.ChatCompletionCreateParamsNonStreaming,
): Promise<Completion> {
  const { client, dialect } = connection
  const { signal, onDelta, idempotencyKey } = asking
  // The client's own option `idempotencyKey` sends nothing.
  const sending = { signal, ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }) }
  const reading = { provider: dialect, prices: options.prices }
  if (!onDelta) return readAnswer(await client.chat.completions.create(params, sending), reading)
  const tell = (delta: ModelDelta): void => {
    // Pieces that have arrived already keep coming after an abort.
    signal?.throwIfAborted()
    onDelta(delta)
  }
  const streaming = { ...params, stream: true as const, stream_options: { include_usage: true } }
  const response = await client.chat.completions.create(streaming, sending).asResponse()
  const whole = await wholeInstead(response)
  return whole === undefined ? readStream(chatEvents(response), tell, reading) : readAnswer(whole, reading, tell)
}

function toParams(
  { model, temperature }: OpenAIOptions,
  tools: CompleteOptions['tools'] = [],
): Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'messages'> {
  return {
    model,
    ...(tools.length > 0 && { tools: toChatTools(tools) }),
    ...(temperature !== undefined && { temperature }),
  }
}

const UNSUPPORTED =
  /unsupported|not supported|instead|unrecogni[sz]ed|unknown|not (allowed|permitted)|extra|unexpected/i

/** Whether a server refuses the parameter itself. A server that refuses only its value names the parameter too. */
function refuses(error: unknown, parameter: LimitName): boolean {
  const { status, message = '' } = readProviderError(error) ?? {}
  return (status === 400 || status === 422) && RegExp(`\\b${parameter}\\b`).test(message) && UNSUPPORTED.test(message)
}

/** A server that does not know a setting may refuse it. So a setting that nobody has asked for is left out. */
function toSettings(
  { reasoning, verbosity, serviceTier, promptCacheKey, parallelToolCalls, extraBody }: OpenAIOptions,
  tools: CompleteOptions['tools'] = [],
  cacheKey: string | undefined,
): Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> {
  const key = toCacheKey(promptCacheKey ?? cacheKey)
  return {
    ...(reasoning?.effort && { reasoning_effort: reasoning.effort }),
    ...(verbosity && { verbosity }),
    ...(serviceTier && { service_tier: serviceTier }),
    ...(key !== undefined && { prompt_cache_key: key }),
    ...(parallelToolCalls !== undefined && tools.length > 0 && { parallel_tool_calls: parallelToolCalls }),
    ...extraBody,
  }
}
