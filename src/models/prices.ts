/** What a call costs. The provider reports the tokens, and the user states the prices. */

/** US dollars per million tokens. */
export interface Prices {
  /** For tokens that the model reads. */
  input: number
  /** For tokens that the model writes. */
  output: number
  /** For tokens that the provider finds in its cache. Default: `input`. */
  cachedInput?: number
  /** For tokens that the provider writes into its cache, if it reports them. Default: `input`. */
  cacheWrite?: number
}

/** Tokens of one call. `read` and `written` are parts of `input`. */
export interface Tokens {
  input: number
  output: number
  /** Found in the cache. */
  read?: number
  /** Put into the cache. */
  written?: number
}

/** @returns US dollars */
export function costOf({ input, output, read = 0, written = 0 }: Tokens, prices: Prices): number {
  const { cachedInput = prices.input, cacheWrite = prices.input } = prices
  const fresh = input - read - written
  return (fresh * prices.input + read * cachedInput + written * cacheWrite + output * prices.output) / 1e6
}
