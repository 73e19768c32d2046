/** Finds the JSON object in a model's reply. It never throws, and its time is linear in the length of the reply. */
import { findCandidates, REPLY_LIMIT } from './json-candidates.ts'
import { Mender } from './mend-json.ts'
import { parseObjectJson } from '../../core/parse-json.ts'

/** A string without an end matches too: otherwise the text after each of its quotes would be read again. */
const STRING = /"[^"\\]*(?:\\[\s\S][^"\\]*)*("?)/g
const ESCAPE = /\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|[\s\S])/g

/**
 * The first JSON object of a text. An object in a code fence comes before any other object. Illegal escapes are
 * repaired only if the original does not parse. If no object of the text can be read so, wrong punctuation is mended
 * too (quotes, commas, constants of Python). Keys named `__proto__` are left out.
 *
 * @param text at most 256 Ki UTF-16 units; objects that are nested deeper than 200 levels are not read
 * @returns null if there is none. It never returns an object from inside a broken one, an object whose end is missing,
 *   or an object to which more text belongs
 * @example extractJSON('I look:\n```json\n{"action": "shell", "command": "ls"}\n```') // { action: 'shell', … }
 */
export function extractJSON(text: string): Record<string, unknown> | null {
  if (text.length > REPLY_LIMIT) return null
  const closed = findCandidates(text).filter(({ closed, half }) => closed && !half)
  const inOrder = [...closed.filter(({ fenced }) => fenced), ...closed.filter(({ fenced }) => !fenced)]
  const mender = new Mender()
  for (const read of [parseObject, (source: string) => mendObject(source, mender)]) {
    for (const { start, end } of inOrder) {
      const object = read(text.slice(start, end))
      if (object) return object
    }
  }
  return null
}

/** @param text a balanced text that begins with a brace */
export function parseObject(text: string): Record<string, unknown> | null {
  const object = parseObjectJson(text)
  if (object) return object
  const repaired = repairEscapes(text)
  return repaired === text ? null : parseObjectJson(repaired)
}

/** @param text a text that `parseObject` cannot read */
export function mendObject(text: string, mender: Mender): Record<string, unknown> | null {
  return mender.mend(repairEscapes(text))
}

/**
 * Doubles the backslash of illegal escapes (`\;`, `\d`, `C:\users`) and escapes raw control characters, in strings
 * only. It must never change a valid escape or the meaning of an invalid one: `\n`, `\t` and `\b` are legal and stay,
 * even if the model meant a Windows path.
 *
 * @param text a balanced text in which each string ends. A string that does not end is left as it is
 * @example JSON.parse(repairEscapes(String.raw`{"re": "\d+"}`)) // { re: '\\d+' }
 */
export function repairEscapes(text: string): string {
  return text.replace(STRING, (string, end: string) => {
    if (end === '') return string
    return string
      .replace(ESCAPE, (escape, legal?: string) => (legal === undefined ? `\\${escape}` : escape))
      .replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
  })
}
