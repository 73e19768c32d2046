/** Models behind an OpenAI-compatible endpoint. Never retries by itself: the session does, and survives a crash meanwhile. */
import { StelloError } from '../../core/errors.ts'
import type { Completion, Model } from '../../core/model.ts'
import { modelWaits } from '../model-waits.ts'
import { toModelError } from '../model-error.ts'
import { completeChat, type Learnt } from './chat.ts'
import { connect, OPENAI, servedBy, type Provider } from './provider-connection.ts'
import type { OpenAIOptions } from './openai-options.ts'

/**
 * A model of OpenAI, or of any server that speaks its chat completions: set `baseURL` or `OPENAI_BASE_URL`. It needs no
 * key before it is called, so an agent module loads anywhere.
 *
 * @param options `temperature` and `maxTokens` are the provider's own defaults when left out
 * @returns its `complete` throws StelloError MODEL_AUTH, MODEL_RATE_LIMITED, MODEL_UNAVAILABLE, MODEL_REFUSED_REQUEST,
 *   MODEL_CONTEXT_TOO_LONG, MODEL_BAD_ANSWER; an abort rejects with the signal's reason
 * @throws StelloError INVALID_ARGUMENT without a model name
 * @example
 * const llm = openai({ model: 'gpt-5-mini' })
 * const local = openai({ model: 'qwen3', baseURL: 'http://127.0.0.1:11434/v1' })
 */
export function openai(options: OpenAIOptions): Model {
  return modelAt(OPENAI, options)
}

/** A model of a provider that speaks OpenAI's API. */
export function modelAt(provider: Provider, options: OpenAIOptions): Model {
  const { model, name = model } = options
  if (typeof model !== 'string' || model === '') {
    throw new StelloError('INVALID_ARGUMENT', `a model of ${provider.title} needs its name`, {
      hint: "pass { model: '…' }",
    })
  }
  const learnt: Learnt = new Map()
  return {
    name,
    ...modelWaits(options, `model ${model}`),
    get provider() {
      return servedBy(provider, options)
    },
    async complete(messages, asking = {}): Promise<Completion> {
      const connection = connect(provider, options, asking.onAlive)
      try {
        return await completeChat(connection, options, messages, asking, learnt)
      } catch (error) {
        asking.signal?.throwIfAborted()
        throw toModelError(error, connection.asked)
      }
    },
  }
}
