/** Text in columns: wraps by what a terminal shows, with colours. Pure. */
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** A tab has no width that can be counted. */
const TAB = '  '

/**
 * The lines that a text takes, none wider than so many columns.
 *
 * @param first stands before the first line, `rest` before the others; both count
 * @example wrapLines('one two', 8, '- ') // ['- one', '  two']
 */
export function wrapLines(
  text: string,
  width: number,
  first = '',
  rest: string = ' '.repeat(stringWidth(first)),
): string[] {
  const room = Math.max(1, width - stringWidth(first))
  const lines = wrapAnsi(text.replaceAll('\t', TAB), room, { hard: true, trim: false }).split('\n')
  return lines.map((line, index) => `${index === 0 ? first : rest}${line.trimEnd()}`)
}

/** One line, cut where the columns end. */
export function oneLineOf(text: string, width: number): string {
  const flat = text.replace(/\s+/g, ' ').trim()
  if (stringWidth(flat) <= width) return flat
  const [line = ''] = wrapAnsi(flat, Math.max(1, width - 1), { hard: true, trim: false, wordWrap: false }).split('\n')
  return `${line}…`
}

/** Fills up with spaces. */
export function padded(text: string, width: number, align: 'left' | 'right' | 'center' = 'left'): string {
  const free = Math.max(0, width - stringWidth(text))
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0
  return `${' '.repeat(before)}${text}${' '.repeat(free - before)}`
}
