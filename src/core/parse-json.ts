/** JSON that somebody else wrote, as values whose keys cannot reach a prototype. */

/**
 * `JSON.parse` without what `Object.assign` or a deep copy would turn into a prototype: keys named `__proto__`, and
 * `constructor` where it holds a `prototype`. They are left out at every depth.
 *
 * @throws SyntaxError
 * @example parseJson('{"a": 1, "__proto__": {"admin": true}}') // { a: 1 }
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, withoutPrototype)
}

/** @returns null when the text is no JSON object */
export function parseObjectJson(text: string): Record<string, unknown> | null {
  try {
    const value = parseJson(text)
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}

function withoutPrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') return undefined
  return key === 'constructor' && Object.hasOwn(Object(value) as object, 'prototype') ? undefined : value
}
