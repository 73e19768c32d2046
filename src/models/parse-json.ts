/** JSON whose keys cannot reach a prototype. */

/** @returns null when the text is no JSON object; keys named `__proto__` are left out at every depth */
export function parseWithoutProto(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text, withoutProto)
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}

function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}
