/** The options of a Claude model. */
import type { ModelWaitOptions } from '../model-waits.ts'
import type { Prices } from '../prices.ts'

/**
 * Whether Claude thinks before it answers. Anthropic's page on thinking says which form a model takes. `adaptive`: as
 * much as the question needs. `enabled`: up to `budgetTokens` tokens (at least 1,024); only for models up to version
 * 4.6. `display: 'summarized'` makes newer models show what they think.
 */
export type ClaudeThinking =
  | { type: 'adaptive'; display?: 'summarized' | 'omitted' }
  | { type: 'enabled'; budgetTokens: number; display?: 'summarized' | 'omitted' }
  | { type: 'disabled' }

/** Which model of Anthropic to call, and how. */
export interface ClaudeOptions extends ModelWaitOptions {
  /** Anthropic's name for the model. */
  model: string
  /**
   * With or without `/v1`. Default: `ANTHROPIC_BASE_URL`, else Anthropic. The variables of the base URL and of the key
   * are read when the model is called.
   */
  baseURL?: string
  /** Default: `ANTHROPIC_API_KEY`. With a base URL of your own, the key may be missing. */
  apiKey?: string
  /** Shown to people. Default: `model`. */
  name?: string
  /** 0 to 1. Default: the provider's. It cannot be set together with thinking, and newer models refuse it. */
  temperature?: number
  /**
   * Limit of one answer in tokens, thinking included. Default: 32,000 more than the thinking budget, but at most what
   * the model can write.
   */
  maxTokens?: number
  /** Default: the model's own. */
  thinking?: ClaudeThinking
  /** How much work the model puts into an answer. Default: the model's own. */
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  /**
   * How long Anthropic keeps the prompt in its cache for the next call. Each use renews this time. `false`: no cache
   * points are set. Default: `5m`.
   */
  cache?: '5m' | '1h' | false
  /** The most tokens that a prompt and its answer may have together. Default: looked up by the name, if it is known. */
  contextWindow?: number
  /**
   * HTTP headers of each request. Their values are cut from errors. Values of `authorization`, `…-key` and the like are
   * cut from everything the worker tells.
   */
  headers?: Record<string, string>
  /** Fields that are added to the body of each request, e.g. `{ service_tier: 'standard_only' }`. They replace ours. */
  extraBody?: Record<string, unknown>
  /** For `usage.costUsd`: US dollars per million tokens. */
  prices?: Prices
}
