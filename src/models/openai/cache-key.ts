/** The key by which OpenAI finds the prompt of an earlier request in its cache. */
import { createHash } from 'node:crypto'

/** OpenAI refuses a longer one, in characters. */
export const CACHE_KEY_LIMIT = 64

/** A long key becomes a hash of it. */
export function toCacheKey(key: string | undefined): string | undefined {
  if (key === undefined || key.length <= CACHE_KEY_LIMIT) return key
  return createHash('sha256').update(key).digest('hex')
}
