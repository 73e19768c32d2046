/** Arguments that are still streaming in, as far as they can be read. */
import { Allow, parse } from 'partial-json'
import { parseJson } from '../../core/parse-json.ts'

/** Of one call, in UTF-16 units: the whole is read anew each time, so there is an end to it. */
export const PARTIAL_LIMIT: number = 32 * 1024

/** A number may still grow, so it is not there before its end; `tru` is not true yet. */
const ALLOW = Allow.STR | Allow.ARR | Allow.OBJ

/** Objects and arrays within each other: the parser takes long over each end that is missing. */
const DEPTH_LIMIT = 32

/** Undefined as long as there is no object. Never throws; what is no JSON reads as far as it is. */
export function readPartial(text: string): Record<string, unknown> | undefined {
  if (text.length > PARTIAL_LIMIT || !text.trimStart().startsWith('{') || isDeep(text)) return undefined
  try {
    const value = parse(text, ALLOW) as unknown
    // The parser assigns keys, so that `__proto__` makes a prototype: the copy leaves it behind.
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
