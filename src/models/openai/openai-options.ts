/** What a model of OpenAI, or behind an OpenAI-compatible endpoint, is made with. */
import type { ModelWaitOptions } from '../model-waits.ts'
import type { Prices } from '../prices.ts'

/** Which model to call, where and how. */
export interface OpenAIOptions extends ModelWaitOptions {
  /** The provider's name of the model. */
  model: string
  /** Default: `OPENAI_BASE_URL`, else OpenAI. Read when the model is called, as is the key. */
  baseURL?: string
  /** Default: `OPENAI_API_KEY`; with a base URL of your own it may be missing. */
  apiKey?: string
  /** Shown to people. Default: `model`. */
  name?: string
  /** 0 to 2. Default: the provider's. */
  temperature?: number
  /** Limit of one answer, in tokens. */
  maxTokens?: number
  /**
   * HTTP headers of each request. Their values are cut from errors. Values of `authorization`, `…-key` and the like are
   * cut from everything the worker tells.
   */
  headers?: Record<string, string>
  /** For `usage.costUsd`: US dollars per million tokens. */
  prices?: Prices
}
