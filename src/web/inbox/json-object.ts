/** An object that a person has typed as JSON. Pure. */

/** The object, or what is wrong with the text. */
export type TypedObject = { ok: true; value: Record<string, unknown> } | { ok: false; problem: string }

/** @example readJsonObject('{"path":"a.txt"}') // { ok: true, value: { path: 'a.txt' } } */
export function readJsonObject(text: string): TypedObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { ok: true, value: value as Record<string, unknown> }
    }
    return { ok: false, problem: 'This must be an object: { … }' }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The object as people edit it; the text as it is, if it is no object. */
export function indented(text: string): string {
  const read = readJsonObject(text)
  return read.ok ? JSON.stringify(read.value, null, 2) : text
}
