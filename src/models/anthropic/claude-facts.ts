/** What differs between Anthropic's models, by their names. A model with an unknown name counts as a current one. */

/** The default of `maxTokens`. */
const ANSWER_TOKENS = 32_000
/** The longest answers of models before version 4.6, by the beginning of their names. */
const LONGEST: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/claude-3-(haiku|opus|sonnet)/, 4_096],
  [/claude-3-5/, 8_192],
  [/claude-opus-4(?!-[5-9])/, 32_000],
  [/claude-(3-7|(sonnet|haiku|opus)-4(?!-[6-9]))/, 64_000],
]
const LONGEST_NOW = 128_000

/** The default of `maxTokens`: `ANSWER_TOKENS` beyond the thinking budget, but not more than the model can write. */
export function defaultMaxTokens(model: string, thinkingBudget = 0): number {
  const longest = LONGEST.find(([name]) => name.test(model))?.[1] ?? LONGEST_NOW
  return Math.min(ANSWER_TOKENS + thinkingBudget, longest)
}

/** Reads the version from names such as `claude-opus-5-5`, `claude-3-7-sonnet-20250219`. Eight digits are a date. */
const VERSION = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d{1,2}))?(?![\d])/

/**
 * Whether a thinking block is valid only after exactly the prompt that it was written for. This holds from version 5.1
 * on. Older models, and other providers with Anthropic's API, want the block back after every prompt.
 */
export function bindsThinking(model: string): boolean {
  if (!model.includes('claude')) return false
  const [, major, minor = '0'] = VERSION.exec(model) ?? []
  return major === undefined || Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 1)
}
