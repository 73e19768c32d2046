/**
 * Finds the places where a model's reply may hold a JSON object. It reads the text once, and it knows where strings
 * begin and end. It never looks for an object inside another one: a part of an action must not count as a whole action.
 */
import { openingBefore, type Opening } from './call-marks.ts'

/** The longest reply that is read, in UTF-16 units. */
export const REPLY_LIMIT: number = 256 * 1024
/** How deep objects and arrays may be nested. */
const DEPTH_LIMIT = 200
/**
 * How many braces of prose (`use { to open`) are skipped. Each costs one more pass over the text, so there is a limit.
 */
const PROSE_BRACES_LIMIT = 16
/** How many candidates are returned at most. It takes long to find out that a text does not parse. */
const CANDIDATES_LIMIT = 1000
/** What must follow a brace in JSON. */
const JSON_OBJECT = /\{\s*["}]/y
/**
 * What follows a brace when the model wrote JavaScript or Python instead of JSON. It also occurs in CSS and in prose.
 */
const NEARLY_JSON = /\{\s*(?:['“‘]|[a-zA-Z_$][\w$]{0,64}\s*:)/y
/** What follows an object that ended too early: another key with its value, or another closing brace. */
const BELONGS = /\s*(?:\}|,\s*(?:"(?:[^"\\]|\\[\s\S]){0,256}"|'[^'\n]{0,256}')\s*:)/y

export interface Candidate extends Opening {
  /** The place of the brace. */
  start: number
  /** The place after the closing brace; the end of the text if there is none. */
  end: number
  /**
   * Its braces are balanced. It begins like JSON; in a fence, behind a mark or alone, it may begin only nearly so. It
   * may still not parse. Only the last candidate may be not closed.
   */
  closed: boolean
  /**
   * What follows belongs to it too, so the object alone is only a part of what was meant. `end` is behind all of it.
   */
  half: boolean
}

/**
 * The candidates in the order of their places. The text must not be longer than `REPLY_LIMIT`. Text in `<think>` blocks
 * does not count.
 */
export function findCandidates(text: string): Candidate[] {
  const found: Candidate[] = []
  const opening = /\{|<think>/g
  const lastThought = text.lastIndexOf('</think>')
  const first = text.length - text.trimStart().length
  const last = text.trimEnd().length
  let proseBraces = 0
  let fences = 0
  let prose = 0
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const start = match.index
    if (match[0] !== '{') {
      if (start < lastThought) opening.lastIndex = text.indexOf('</think>', start)
      continue
    }
    const json = begins(JSON_OBJECT, text, start)
    const nearly = !json && begins(NEARLY_JSON, text, start)
    const quotes = nearly ? `"'` : '"'
    const end = endOfObject(text, start, { quotes })
    fences += countFences(text.slice(prose, start))
    prose = start
    const before = openingBefore(text, start)
    const behind = { ...before, quoted: before.quoted || fences % 2 === 1 }
    if (end !== undefined) {
      const half = (json || nearly) && begins(BELONGS, text, end)
      const whole = (half ? endOfObject(text, end, { quotes, braces: 1 }) : end) ?? text.length
      if (json || (nearly && (behind.fenced || behind.marked || (start === first && whole === last)))) {
        found.push({ start, end: whole, closed: true, half, ...behind })
      }
      if (found.length === CANDIDATES_LIMIT) return found
      opening.lastIndex = prose = whole
    } else if (json || nearly || ++proseBraces > PROSE_BRACES_LIMIT) {
      return [...found, { start, end: text.length, closed: false, half: false, ...behind }]
    }
  }
  return found
}

/** Whether a text that begins with a brace may be a candidate. */
export function beginsLikeObject(text: string): boolean {
  return begins(JSON_OBJECT, text, 0) || begins(NEARLY_JSON, text, 0)
}

function begins(pattern: RegExp, text: string, start: number): boolean {
  pattern.lastIndex = start
  return pattern.test(text)
}

function countFences(prose: string): number {
  return prose.split('```').length - 1
}

interface Reading {
  /** The characters that begin and end a string. */
  quotes: string
  /** How many braces are open at the start. */
  braces?: number
}

function endOfObject(text: string, start: number, { quotes, braces = 0 }: Reading): number | undefined {
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
