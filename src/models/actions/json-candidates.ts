/**
 * Finds the places where a model's reply may hold a JSON object. It makes one pass over the text and knows strings. It
 * never looks for an object inside another one: half of an action must not count as a whole.
 */

/** The longest reply that is read, in UTF-16 units. */
export const REPLY_LIMIT: number = 256 * 1024
/** How deep objects and arrays may be nested. */
const DEPTH_LIMIT = 200
/** How many braces of prose (`use { to open`) are skipped. Each costs a pass, so there is a limit. */
const PROSE_BRACES_LIMIT = 16
/** Text that does not parse is slow to refuse. */
const CANDIDATES_LIMIT = 1000
/** What must follow a brace in JSON. */
const JSON_OBJECT = /\{\s*["}]/y
/** What follows a brace when JavaScript or Python was written instead of JSON; also in CSS and in much prose. */
const NEARLY_JSON = /\{\s*(?:['“‘]|[a-zA-Z_$][\w$]{0,64}\s*:)/y
/** Longer than the opening of any fence, with its language and the line break. */
const FENCE_WINDOW = 32

export interface Candidate {
  /** The place of the brace. */
  start: number
  /** The place after the closing brace; the end of the text when there is none. */
  end: number
  /** Balanced and begins like JSON or, in a fence or alone, nearly so; it may not parse. Only the last may be open. */
  closed: boolean
  /** Where the prose before it ends: at its fence, if there is one. */
  proseEnd: number
  fenced: boolean
}

/**
 * The candidates by position. The text must not be longer than `REPLY_LIMIT`. Text in `<think>` blocks does not count.
 */
export function findCandidates(text: string): Candidate[] {
  const found: Candidate[] = []
  const opening = /\{|<think>/g
  const lastThought = text.lastIndexOf('</think>')
  const first = text.length - text.trimStart().length
  const last = text.trimEnd().length
  let proseBraces = 0
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const start = match.index
    if (match[0] !== '{') {
      if (start < lastThought) opening.lastIndex = text.indexOf('</think>', start)
      continue
    }
    const json = begins(JSON_OBJECT, text, start)
    const nearly = !json && begins(NEARLY_JSON, text, start)
    const end = endOfObject(text, start, nearly ? `"'` : '"')
    const behind = lookBehind(text, start)
    if (end !== undefined) {
      if (json || (nearly && (behind.fenced || (start === first && end === last)))) {
        found.push({ start, end, closed: true, ...behind })
      }
      if (found.length === CANDIDATES_LIMIT) return found
      opening.lastIndex = end
    } else if (json || nearly || ++proseBraces > PROSE_BRACES_LIMIT) {
      return [...found, { start, end: text.length, closed: false, ...behind }]
    }
  }
  return found
}

function begins(pattern: RegExp, text: string, start: number): boolean {
  pattern.lastIndex = start
  return pattern.test(text)
}

/** @param quotes the characters that begin and end a string */
function endOfObject(text: string, start: number, quotes: string): number | undefined {
  let braces = 0
  let brackets = 0
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    switch (char) {
      case '"':
      case "'":
        if (quotes.includes(char)) at = endOfString(text, at)
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
  const end = text[quote]
  let at = quote + 1
  while (at < text.length && text[at] !== end) at += text[at] === '\\' ? 2 : 1
  return at
}

function lookBehind(text: string, start: number): { proseEnd: number; fenced: boolean } {
  const before = text.slice(Math.max(0, start - FENCE_WINDOW), start)
  const [fence = ''] = /(?:```\w*\s*|`)$/.exec(before) ?? []
  return { proseEnd: start - fence.length, fenced: fence.startsWith('```') }
}
