/** The tokens of one answer, under all the names that compatible servers use. */
import { isObject } from '../../core/is-object.ts'
import type { Usage } from '../../core/message.ts'
import { costOf, type Prices } from '../prices.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Finds the tokens in a whole answer or a chunk. Most servers send them at the top level, Groq and Moonshot elsewhere.
 *
 * @returns undefined if there are none, or if all of them are still zero
 */
export function usageIn(body: unknown): Fields | undefined {
  const { usage, x_groq: groq, choices } = fieldsOf(body)
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return [usage, fieldsOf(groq)['usage'], fieldsOf(first)['usage']].find(
    (each): each is Fields => isObject(each) && Object.values(each).some((value) => tokens(value) > 0),
  )
}

export function toUsage(usage: Fields | undefined, prices: Prices | undefined): Usage {
  if (!usage) return { inputTokens: 0, outputTokens: 0 }
  const input = tokens(usage['prompt_tokens'], usage['input_tokens'])
  const said = tokens(usage['completion_tokens'], usage['output_tokens'])
  // Some providers count the tokens of reasoning only in the total, and not as tokens of the output.
  const output = Math.max(said, tokens(usage['total_tokens']) - input)
  const read = Math.min(input, cachedTokens(usage))
  return {
    inputTokens: input,
    outputTokens: output,
    ...(read > 0 && { cachedTokens: read }),
    ...(prices && { costUsd: costOf({ input, output, read }, prices) }),
  }
}

function cachedTokens(usage: Fields): number {
  return tokens(
    fieldsOf(usage['prompt_tokens_details'])['cached_tokens'],
    fieldsOf(usage['input_tokens_details'])['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
    usage['cache_read_input_tokens'],
  )
}

/** The first of the values that is a positive number, or 0. */
function tokens(...values: unknown[]): number {
  return values.find((value): value is number => typeof value === 'number' && value > 0 && value < Infinity) ?? 0
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}
