/** Makes any text storable: every side uses it before it writes. */
import { UNSTORABLE } from './message.ts'

const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu')

/**
 * NUL and lone surrogates become U+FFFD.
 *
 * @example clean('a\u0000b') // 'a\uFFFDb'
 */
export function clean(text: string): string {
  return text.replace(EACH_UNSTORABLE, '\uFFFD')
}

/** Cleans every text inside a JSON value. */
export function cleanJson<T>(value: T): T {
  if (typeof value === 'string') return clean(value) as T
  if (Array.isArray(value)) return value.map(cleanJson) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), cleanJson(each)])) as T
}

/**
 * The escapes that JSON writes for them. A match that only looks like one costs a look at every text, and nothing more.
 */
const UNSTORABLE_JSON = /\\u(?:0000|d[89a-f])/

/** The value as JSON that PostgreSQL accepts. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return UNSTORABLE_JSON.test(json) ? JSON.stringify(cleanJson(value)) : json
}
