/**
 * Makes text of models, tools and other people safe for a terminal: it must not move the cursor, set colours or titles,
 * write to the clipboard, or show text in another order than it is written in.
 */

/**
 * C0 except line feed and tab, DEL, C1; characters that turn the direction of text, and those that are invisible
 * between letters.
 */
/* oxlint-disable no-control-regex -- control characters are searched here */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu
/* oxlint-enable no-control-regex */

/** A carriage return would let a text write over its line, so it becomes the end of the line. */
const LINE_END = /\r\n?/g

/**
 * A copy of the value in which every unsafe character is visible. Dates stay dates.
 *
 * @example printable('\u001b[2Jgone') // '<1b>[2Jgone'
 */
export function printable<T>(value: T): T {
  return map(value, (text) => text.replace(LINE_END, '\n').replace(UNSAFE, visible)) as T
}

/** JSON of the same value that is safe for a terminal as it is. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) => `\\u${hex(character).padStart(4, '0')}`)
}

function visible(character: string): string {
  return `<${hex(character).padStart(2, '0')}>`
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16)
}

function map(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => map(each, change))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), map(each, change)]))
}
