/** Arguments that are still streaming in, as far as they can be read. */
import { Allow, parse } from 'partial-json'
import { parseJson } from '../../core/parse-json.ts'

/** Longest arguments of one call that are read, in UTF-16 units: the whole text is read again each time. */
export const PARTIAL_LIMIT: number = 32 * 1024

/** A number may still grow, so it appears only when it is complete. `tru` is not `true` yet. */
const ALLOW = Allow.STR | Allow.ARR | Allow.OBJ

/** How deep objects and arrays may be nested: each missing end costs the parser much time. */
const DEPTH_LIMIT = 32

/** Returns undefined as long as there is no object. Never throws. Broken JSON is read as far as possible. */
export function readPartial(text: string): Record<string, unknown> | undefined {
  if (text.length > PARTIAL_LIMIT || !text.trimStart().startsWith('{') || isDeep(text)) return undefined
  try {
    const value = parse(text, ALLOW) as unknown
    // The parser assigns keys, so `__proto__` becomes a prototype. The copy leaves it out.
    return parseJson(JSON.stringify(value)) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function isDeep(text: string): boolean {
  let [depth, quoted] = [0, false]
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quoted && char === '\\') at++
    else if (char === '"') quoted = !quoted
    else if (!quoted && (char === '{' || char === '[')) depth++
    else if (!quoted && (char === '}' || char === ']')) depth--
    if (depth > DEPTH_LIMIT) return true
  }
  return false
}
