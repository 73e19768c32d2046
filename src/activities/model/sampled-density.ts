/**
 * How many tokens a provider probably counts for one of our estimate, where it does not tell. A tokenizer counts a sample: to
 * count everything would take seconds.
 */
import type { Message } from '../../core/message.ts'
import { densityOf, messageTokens, textTokens } from './token-estimate.ts'

/** Pieces of the sample, and UTF-16 units of each. */
const PIECES = 24
const PIECE = 400

/**
 * @param least estimated tokens below which nobody needs to know: the tokenizer takes 70 MB of memory
 * @returns undefined below it
 */
export async function sampledDensity(messages: readonly Message[], least: number): Promise<number | undefined> {
  const total = messages.reduce((sum, message) => sum + messageTokens(message), 0)
  if (total < least) return undefined
  const every = Math.max(1, Math.floor(messages.length / PIECES))
  const sample = messages
    .filter((_, index) => index % every === 0)
    .map(({ content }) => content.slice(0, PIECE))
    .join('\n')
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  return densityOf(countTokens(sample), textTokens(sample))
}
