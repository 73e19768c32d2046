/** What a Claude model is made with. */
import type { ModelWaitOptions } from '../model-waits.ts'
import type { Prices } from '../prices.ts'

/**
 * Whether Claude thinks before it answers. Which form a model takes: see Anthropic's page on thinking. `adaptive`: as much
 * as the question needs. `enabled`: up to `budgetTokens`, at least 1,024, only up to version 4.6. `display: 'summarized'`
 * makes newer models show what they think.
 */
export type ClaudeThinking =
  | { type: 'adaptive'; display?: 'summarized' | 'omitted' }
  | { type: 'enabled'; budgetTokens: number; display?: 'summarized' | 'omitted' }
  | { type: 'disabled' }

/** Which model of Anthropic to call, and how. */
export interface ClaudeOptions extends ModelWaitOptions {
  /** Anthropic's name of the model. */
  model: string
  /** Default: `ANTHROPIC_BASE_URL`, else Anthropic; with or without `/v1`. Read when the model is called, as is the key. */
  baseURL?: string
  /** Default: `ANTHROPIC_API_KEY`; with a base URL of your own it may be missing. */
  apiKey?: string
  /** Shown to people. Default: `model`. */
  name?: string
  /** 0 to 1. Default: the provider's. Not together with thinking; newer models refuse it. */
  temperature?: number
  /**
   * Limit of one answer, in tokens, thinking included. Default: 32,000 above the thinking budget, but at most what the
   * model can write.
   */
  maxTokens?: number
  /** Default: the model's own. */
  thinking?: ClaudeThinking
  /** How much work the model puts into an answer. Default: the model's own. */
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  /**
   * How long Anthropic keeps the prompt cached for the next call. `false`: no cache points are set. Default: `5m`, which each
   * use renews.
   */
  cache?: '5m' | '1h' | false
  /** The most tokens that a prompt and its answer may have together. Default: looked up by the name, if it is known. */
  contextWindow?: number
  /**
   * HTTP headers of each request. Their values are cut from errors. Values of `authorization`, `…-key` and the like are
   * cut from everything the worker tells.
   */
  headers?: Record<string, string>
  /** Fields that are added to the body of each request, e.g. `{ service_tier: 'standard_only' }`. They win over ours. */
  extraBody?: Record<string, unknown>
  /** For `usage.costUsd`: US dollars per million tokens. */
  prices?: Prices
}
