/** Makes any text storable. Import-free: every side uses it before it writes. */

/**
 * NUL and lone surrogates become U+FFFD: PostgreSQL refuses both in text and in jsonb.
 *
 * @example clean('a\u0000b') // 'a\uFFFDb'
 */
export function clean(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD')
}

/** The same for every text inside a JSON value. */
export function cleanJson<T>(value: T): T {
  if (typeof value === 'string') return clean(value) as T
  if (Array.isArray(value)) return value.map(cleanJson) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), cleanJson(each)])) as T
}

/** As JSON writes them; what only looks like one costs a look at every text. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/

/** As JSON that PostgreSQL takes. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return UNSTORABLE.test(json) ? JSON.stringify(cleanJson(value)) : json
}
