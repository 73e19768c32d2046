/**
 * Where a model's reply may hold a JSON object. One pass over the text, aware of strings; never looks inside an object
 * for another one: half of an action must not pass for a whole.
 */

/** The longest reply that is read, in UTF-16 units. */
export const REPLY_LIMIT: number = 256 * 1024
/** Objects and arrays within each other. */
const DEPTH_LIMIT = 200
/** Braces of prose (`use { to open`) that are passed over; each costs a pass, so there is an end to it. */
const PROSE_BRACES_LIMIT = 16
/** What does not parse is slow to refuse. */
const CANDIDATES_LIMIT = 1000
/** Longer than the opening of any fence, with its language and the line break. */
const FENCE_WINDOW = 32

export interface Candidate {
  /** Of the brace. */
  start: number
  /** Behind the closing brace; the end of the text when there is none. */
  end: number
  /** Balanced and begins like JSON, though it may not parse. Only the last candidate may be open. */
  closed: boolean
  /** Where the prose before it ends: at its fence, if it has one. */
  proseEnd: number
  fenced: boolean
}

/** By position. Must not be given more than `REPLY_LIMIT`. What stands in `<think>` blocks was not said. */
export function findCandidates(text: string): Candidate[] {
  const found: Candidate[] = []
  const opening = /\{|<think>/g
  const lastThought = text.lastIndexOf('</think>')
  let proseBraces = 0
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const start = match.index
    if (match[0] !== '{') {
      if (start < lastThought) opening.lastIndex = text.indexOf('</think>', start)
      continue
    }
    const end = endOfObject(text, start)
    const json = beginsObject(text, start)
    if (end !== undefined) {
      if (json) found.push({ start, end, closed: true, ...lookBehind(text, start) })
      if (found.length === CANDIDATES_LIMIT) return found
      opening.lastIndex = end
    } else if (json || ++proseBraces > PROSE_BRACES_LIMIT) {
      return [...found, { start, end: text.length, closed: false, ...lookBehind(text, start) }]
    }
  }
  return found
}

/** Whether a brace is followed by what must follow it in JSON. */
function beginsObject(text: string, start: number): boolean {
  const begin = /\{\s*["}]/y
  begin.lastIndex = start
  return begin.test(text)
}

function endOfObject(text: string, start: number): number | undefined {
  let braces = 0
  let brackets = 0
  for (let at = start; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"':
        at = endOfString(text, at)
        break
      case '[':
        brackets++
        break
      case ']':
        brackets--
        break
      case '{':
        braces++
        break
      case '}':
        if (--braces === 0) return at + 1
    }
    if (braces + brackets > DEPTH_LIMIT) return undefined
  }
  return undefined
}

function endOfString(text: string, quote: number): number {
  let at = quote + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function lookBehind(text: string, start: number): { proseEnd: number; fenced: boolean } {
  const before = text.slice(Math.max(0, start - FENCE_WINDOW), start)
  const [fence = ''] = /(?:```\w*\s*|`)$/.exec(before) ?? []
  return { proseEnd: start - fence.length, fenced: fence.startsWith('```') }
}
