/** The JSON object in a model's reply. Never throws, whatever the reply; linear in its length. */
import { findCandidates, REPLY_LIMIT } from './json-candidates.ts'
import { repairEscapes } from './repair-escapes.ts'

/**
 * The first JSON object of a text: bare, in a fence, or inside prose (in this order). Illegal escapes are repaired only
 * when the original does not parse. Keys named `__proto__` are left out.
 *
 * @param text at most 256 Ki UTF-16 units; objects nested deeper than 200 are not read
 * @returns null when there is none; never an object from inside a broken one
 * @example extractJSON('I look:\n```json\n{"action": "shell", "command": "ls"}\n```') // { action: 'shell', … }
 */
export function extractJSON(text: string): Record<string, unknown> | null {
  if (text.length > REPLY_LIMIT) return null
  const closed = findCandidates(text).filter((candidate) => candidate.closed)
  for (const fenced of [true, false]) {
    for (const candidate of closed) {
      if (candidate.fenced !== fenced) continue
      const object = parseObject(text.slice(candidate.start, candidate.end))
      if (object) return object
    }
  }
  return null
}

/** @param text balanced, and begins with a brace */
export function parseObject(text: string): Record<string, unknown> | null {
  const object = parse(text)
  if (object) return object
  const repaired = repairEscapes(text)
  return repaired === text ? null : parse(repaired)
}

/** What begins with a brace is an object or no JSON at all. */
function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text, withoutProto) as Record<string, unknown>
  } catch {
    return null
  }
}

function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}
