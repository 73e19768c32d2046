/** Finds the JSON object in a model's reply. It never throws, and its time is linear in the length of the reply. */
import { findCandidates, REPLY_LIMIT } from './json-candidates.ts'
import { Mender } from './mend-json.ts'
import { parseObjectJson } from '../../core/parse-json.ts'
import { repairEscapes } from './repair-escapes.ts'

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
