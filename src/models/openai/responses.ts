/** One call by the Responses API. Nothing is stored at the provider: each request holds the whole conversation. */
import OpenAI from 'openai'
import type { ResponseCreateParamsNonStreaming, ResponseIncludable } from 'openai/resources/responses/responses'
import type { CompleteOptions, Completion, ModelDelta } from '../../core/model.ts'
import { messagesBehind } from '../model-error.ts'
import { toCacheKey } from './cache-key.ts'
import type { CompletionRequest } from './chat.ts'
import { chatEvents, wholeInstead } from './chat-events.ts'
import type { Owner } from './openai-data.ts'
import type { OpenAIOptions } from './openai-options.ts'
import { readResponse } from './responses-answer.ts'
import { toResponsesInput, toResponsesTools } from './responses-input.ts'
import { readResponseStream, wholeAsEvents } from './responses-stream.ts'

/**
 * @param unreasoning the hosts at which the model does not reason. There it refuses requests for encrypted reasoning,
 *   and this function adds the host to the set when that happens
 * @throws what the client throws; ToldError; StelloError MODEL_UNAVAILABLE; after an abort between two pieces, the
 *   signal's reason
 */
export async function completeResponse(request: CompletionRequest, unreasoning: Set<string>): Promise<Completion> {
  const { host } = request.connection.asked
  try {
    return await ask(request, !unreasoning.has(host))
  } catch (error) {
    if (unreasoning.has(host) || !refusesReasoning(error)) throw error
    unreasoning.add(host)
    return ask(request, false)
  }
}

/** @param reasons whether the model is asked for encrypted reasoning */
async function ask(
  { connection, options, messages, asking }: CompletionRequest,
  reasons: boolean,
): Promise<Completion> {
  const { client, asked } = connection
  const { signal, onDelta, idempotencyKey } = asking
  const { prices, model } = options
  const owner: Owner = { model, host: asked.host }
  // The client's own option `idempotencyKey` sends nothing.
  const named = idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }
  const { places, ...input } = toResponsesInput(messages, owner)
  asked.behind = (index) => messagesBehind(messages, places[index])
  const params = {
    ...input,
    ...toParams(options, asking, reasons),
  }
  const sending = { signal, ...named }
  if (!onDelta) return readResponse(await client.responses.create(params, sending), owner, prices)
  const tell = (delta: ModelDelta): void => {
    // Pieces that have arrived already keep coming after an abort.
    signal?.throwIfAborted()
    onDelta(delta)
  }
  const answer = await client.responses.create({ ...params, stream: true }, sending).asResponse()
  const whole = await wholeInstead(answer)
  const events = whole === undefined ? chatEvents(answer) : wholeAsEvents(whole)
  return readResponse(await readResponseStream(events, tell), owner, prices)
}

const ENCRYPTED: ResponseIncludable[] = ['reasoning.encrypted_content']

function toParams(
  options: OpenAIOptions,
  { tools = [], cacheKey }: CompleteOptions,
  reasons: boolean,
): ResponseCreateParamsNonStreaming {
  const { model, temperature, maxTokens, reasoning, verbosity, serviceTier, parallelToolCalls, extraBody } = options
  const key = toCacheKey(options.promptCacheKey ?? cacheKey)
  return {
    model,
    store: false,
    ...(reasons && { include: ENCRYPTED }),
    ...(tools.length > 0 && { tools: toResponsesTools(tools) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(reasoning && { reasoning }),
    ...(verbosity && { text: { verbosity } }),
    ...(serviceTier && { service_tier: serviceTier }),
    ...(key !== undefined && { prompt_cache_key: key }),
    ...(parallelToolCalls !== undefined && tools.length > 0 && { parallel_tool_calls: parallelToolCalls }),
    ...extraBody,
  }
}

function refusesReasoning(error: unknown): boolean {
  return (
    error instanceof OpenAI.APIError &&
    error.status === 400 &&
    /encrypted[ _]content is not supported/i.test(error.message)
  )
}
