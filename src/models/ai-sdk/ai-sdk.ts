/** Any model of the Vercel AI SDK. This file never retries. The session does, and its retries survive a crash. */
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import type { CompleteOptions, Completion, Model, ModelDelta, ToolSpec } from '../../core/model.ts'
import type { Message } from '../../core/message.ts'
import { bindsThinking } from '../anthropic/claude-facts.ts'
import { toModelError } from '../model-error.ts'
import { modelWaits, type ModelWaitOptions } from '../model-waits.ts'
import type { Prices } from '../prices.ts'
import { PromptHash } from '../prompt-hash.ts'
import { keepSecretsOf } from '../secret-headers.ts'
import { readGenerated, readParts } from './ai-sdk-answer.ts'
import { toPrompt } from './ai-sdk-prompt.ts'
import type { AiSdkModel, Callable, CallOptions } from './language-model.ts'
import { noticed } from '../asked-around.ts'

/** How a model of the AI SDK is called. */
export interface AiSdkOptions extends ModelWaitOptions {
  /** Shown to people. Default: the model's own. */
  name?: string
  /** Default: the provider's. */
  temperature?: number
  /** Limit of one answer in tokens. Default: the provider's. */
  maxTokens?: number
  /** What the AI SDK calls `providerOptions`, e.g. `{ anthropic: { thinking: { type: 'adaptive' } } }`. */
  providerOptions?: Record<string, Record<string, unknown>>
  /** HTTP headers of each request. Their values are cut from errors. */
  headers?: Record<string, string>
  /** The most tokens that a prompt and its answer may have together. Default: looked up by the name, if it is known. */
  contextWindow?: number
  /** For `usage.costUsd`: US dollars per million tokens. */
  prices?: Prices
}

/**
 * A model of any provider of the Vercel AI SDK, of `ai` 5, 6 or 7. Retries of the SDK do not apply. Reasoning and other
 * data that the provider attaches to its answer are kept in the record and go back to that provider with every later
 * call.
 *
 * @param model a model that a provider's package makes. That package reads the key
 * @returns a model. Its `complete` throws the same StelloErrors as that of `openai`; an abort rejects with the signal's
 *   reason
 * @throws StelloError INVALID_ARGUMENT for something that is no such model
 * @example
 * import { mistral } from '@ai-sdk/mistral'
 * const llm = aiSdk(mistral('mistral-large-latest'))
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  if (!isObject(model) || typeof model.doGenerate !== 'function' || typeof model.doStream !== 'function') {
    throw new StelloError('INVALID_ARGUMENT', 'aiSdk needs a language model of the AI SDK', {
      hint: "pass what its provider makes: aiSdk(mistral('mistral-large-latest'))",
    })
  }
  const { name = model.modelId, contextWindow, headers = {}, prices } = options
  const { provider: host } = model
  const callable = model as unknown as Callable
  return noticed({
    name,
    // The APIs of one provider are away together, so `anthropic.messages` counts as `anthropic`.
    provider: host.replace(/\..*/, ''),
    ...modelWaits(options, `model ${name}`),
    ...(contextWindow !== undefined && { contextWindow }),
    async complete(messages, asking = {}): Promise<Completion> {
      const { signal, onDelta, onAlive } = asking
      signal?.throwIfAborted()
      const asked = { model: name, host, keyVariable: 'its API key', secrets: keepSecretsOf(headers) }
      try {
        const { call, kept } = toCall({ model, options }, messages, asking)
        const expected = { ...kept, prices }
        onAlive?.()
        if (!onDelta) return readGenerated(await callable.doGenerate(call), expected)
        const tell = (delta: ModelDelta): void => {
          // Pieces that have arrived already keep coming after an abort.
          signal?.throwIfAborted()
          onDelta(delta)
        }
        const { stream } = await callable.doStream(call)
        return await readParts(stream, { ...asking, onDelta: tell }, expected)
      } catch (error) {
        signal?.throwIfAborted()
        throw toModelError(error, asked)
      }
    },
  })
}

function toCall(
  { model, options }: { model: AiSdkModel; options: AiSdkOptions },
  messages: readonly Message[],
  { tools: specs = [], signal }: CompleteOptions,
): { call: CallOptions; kept: { key: string; prompt: string | undefined } } {
  const { provider, modelId, specificationVersion: version } = model
  const { temperature, maxTokens, providerOptions, headers } = options
  const key = `ai-sdk:${provider}`
  const tools = specs.map(toTool)
  const bound = bindsThinking(modelId) ? new PromptHash(tools) : undefined
  const prompt = toPrompt(messages, { key, version, bound })
  const call = {
    prompt,
    ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' as const } }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(providerOptions && { providerOptions }),
    ...(headers && { headers }),
    ...(signal && { abortSignal: signal }),
  }
  return { call, kept: { key, prompt: bound?.hash(prompt) } }
}

function toTool({ name, description, parameters }: ToolSpec): NonNullable<CallOptions['tools']>[number] {
  return { type: 'function', name, description, inputSchema: parameters }
}
