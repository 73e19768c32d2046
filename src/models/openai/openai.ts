/** Models of OpenAI-compatible servers. This file never retries. The session does, and its retries survive a crash. */
import type { Completion, Model } from '../../core/model.ts'
import { modelWaits } from '../model-waits.ts'
import { toModelError } from '../model-error.ts'
import { completeChat, type Learnt } from './chat.ts'
import { checkOptions, type OpenAIOptions } from './openai-options.ts'
import { OPENAI, type Provider } from './openai-providers.ts'
import { connect, missingKey, servedBy } from './provider-connection.ts'
import { completeResponse } from './responses.ts'
import { noticed } from '../asked-around.ts'

/**
 * A model of OpenAI by its Responses API, or of any server that speaks OpenAI's chat completions. To use another
 * server, set `baseURL` or `OPENAI_BASE_URL`. The key is needed only when the model is called, so an agent module loads
 * without it.
 *
 * @param options an option that is left out has the provider's own default. `api` chooses the API for any server
 * @returns a model. Its `complete` throws StelloError MODEL_AUTH, MODEL_NO_CREDIT, MODEL_RATE_LIMITED,
 *   MODEL_UNAVAILABLE, MODEL_REFUSED_REQUEST, MODEL_CONTEXT_TOO_LONG, MODEL_BAD_ANSWER; an abort rejects with the
 *   signal's reason
 * @throws StelloError INVALID_ARGUMENT naming the option that is wrong
 * @example
 * const llm = openai({ model: 'gpt-5.4-mini', reasoning: { effort: 'low', summary: 'auto' } })
 * const local = openai({ model: 'qwen3', baseURL: 'http://127.0.0.1:11434/v1' })
 */
export function openai(options: OpenAIOptions): Model {
  return modelAt(OPENAI, options)
}

/** A model of a provider that speaks OpenAI's API. */
export function modelAt(provider: Provider, options: OpenAIOptions): Model {
  checkOptions(options, provider.title)
  const { model, name = model } = options
  const learnt: Learnt = new Map()
  const unreasoning = new Set<string>()
  return noticed({
    name,
    ...modelWaits(options, `model ${model}`),
    get provider() {
      return servedBy(provider, options)
    },
    missingKey: () => missingKey(provider, options),
    async complete(messages, asking = {}): Promise<Completion> {
      const connection = connect(provider, options, asking.onAlive)
      try {
        const request = { connection, options, messages, asking }
        if (connection.api === 'chat') return await completeChat(request, learnt)
        return await completeResponse(request, unreasoning)
      } catch (error) {
        asking.signal?.throwIfAborted()
        throw toModelError(error, connection.asked)
      }
    },
  })
}
