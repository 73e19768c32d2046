/** The JSON object in a model's reply. Never throws, whatever the reply; linear in its length. */
import { findCandidates, REPLY_LIMIT } from './json-candidates.ts'
import { Mender } from './mend-json.ts'
import { parseObjectJson } from '../../core/parse-json.ts'
import { repairEscapes } from './repair-escapes.ts'

/**
 * The first JSON object of a text: bare, in a fence, or inside prose (in this order). Illegal escapes are repaired only
 * when the original does not parse; then, if there is no other object, wrong punctuation (quotes, commas, constants of
 * Python). Keys named `__proto__` are left out.
 *
 * @param text at most 256 Ki UTF-16 units; objects nested deeper than 200 are not read
 * @returns null when there is none; never an object from inside a broken one, never one whose end is missing, or that more text belongs to
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

/** @param text balanced, and begins with a brace */
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
