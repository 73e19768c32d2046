/** One call by the API of chat completions. */
import type OpenAI from 'openai'
import type { Message } from '../../core/message.ts'
import type { CompleteOptions, Completion, ModelDelta } from '../../core/model.ts'
import { readAnswer, readStream } from './chat-answer.ts'
import { toChatMessages, toChatTools } from './chat-messages.ts'
import type { Connection } from './provider-connection.ts'
import type { OpenAIOptions } from './openai-options.ts'

/**
 * @param onDelta asks for a stream
 * @throws what the client throws; an abort that comes between two pieces as the signal's reason
 */
export async function completeChat(
  { client, asked }: Connection,
  options: OpenAIOptions,
  messages: readonly Message[],
  { tools, signal, onDelta, idempotencyKey }: CompleteOptions,
): Promise<Completion> {
  const { prices } = options
  // The client's own option `idempotencyKey` sends nothing.
  const named = idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }
  const params = toParams(options, asked.host, messages, tools)
  if (!onDelta) return readAnswer(await client.chat.completions.create(params, { signal, ...named }), prices)
  const stream = await client.chat.completions.create(
    { ...params, stream: true, stream_options: { include_usage: true } },
    { signal, ...named },
  )
  const tell = (delta: ModelDelta): void => {
    // Pieces that have arrived already keep coming after an abort.
    signal?.throwIfAborted()
    onDelta(delta)
  }
  return readStream(stream, tell, prices)
}

function toParams(
  { model, temperature, maxTokens }: OpenAIOptions,
  host: string,
  messages: readonly Message[],
  tools: CompleteOptions['tools'] = [],
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    messages: toChatMessages(messages),
    ...(tools.length > 0 && { tools: toChatTools(tools) }),
    ...(temperature !== undefined && { temperature }),
    // OpenAI's newer models refuse the old name; other servers know only the old one.
    ...(maxTokens !== undefined &&
      (host === 'api.openai.com' ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens })),
  }
}
