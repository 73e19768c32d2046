/** Text in columns: wraps by what a terminal shows, with colours. Pure. */
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** A tab has no width that can be counted. */
const TAB = '  '
/** A longer line without colours is cut where its columns end: to find its words takes seconds, and nobody reads them. */
const LONG = 10_000
const ESCAPE = '\u001b'
/** The space at which a line was broken, behind the colours that go on. */
const BROKEN_AT = new RegExp(`^((?:${ESCAPE}\\[\\d+m)*) `)
/** Characters that a line of so many columns may take before it is laid out: spaces and what has no width go away. */
const PER_COLUMN = 20
/** Units that are divided into letters at once. */
const PIECE = 512
const IS_ASCII = /^[ -~]*$/

/**
 * The lines that a text takes, none wider than so many columns. A text that may be long gets its colour afterwards.
 *
 * @param margin stands before the first line; before the others stands `rest`, or as much space. Both count
 * @example wrapLines('one two', 8, '- ') // ['- one', '  two']
 */
export function wrapLines(
  text: string,
  width: number,
  margin: string | { first: string; rest: string } = '',
): string[] {
  const { first, rest } = typeof margin === 'string' ? { first: margin, rest: ' '.repeat(stringWidth(margin)) } : margin
  const room = Math.max(1, width - stringWidth(first))
  const lines = text
    .replaceAll('\t', TAB)
    .split('\n')
    .flatMap((line) => wrapped(line, room))
  return lines.map((line, index) => `${index === 0 ? first : rest}${line.trimEnd()}`)
}

function wrapped(line: string, room: number): string[] {
  if (line.length <= room && IS_ASCII.test(line)) return [line]
  if (line.length > LONG && !line.includes(ESCAPE)) return cutLine(line, room)
  const [first = '', ...others] = wrapAnsi(line, room, { hard: true, trim: false }).split('\n')
  return [first, ...others.map((other) => other.replace(BROKEN_AT, '$1'))]
}

/** The pieces of a line, each as wide as the columns allow: where it is cut does not depend on what stands behind. */
export function cutLine(line: string, columns: number): string[] {
  if (IS_ASCII.test(line))
    return Array.from({ length: Math.max(1, Math.ceil(line.length / columns)) }, (_, nth) =>
      line.slice(nth * columns, (nth + 1) * columns),
    )
  const lines = ['']
  const widths = new Map<string, number>()
  let taken = 0
  for (const letter of lettersOf(line)) {
    const wide = widths.get(letter) ?? stringWidth(letter)
    widths.set(letter, wide)
    if (taken + wide > columns) {
      lines.push('')
      taken = 0
    }
    lines[lines.length - 1] += letter
    taken += wide
  }
  return lines
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Piece by piece: the time for a text grows with the square of its length. The last letter of a piece may go on. */
function* lettersOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    // Never between the two units of a character: half of one is a letter of its own.
    const end = at + PIECE + (/[\ud800-\udbff]/.test(text.charAt(at + PIECE - 1)) ? 1 : 0)
    const found = Array.from(letters.segment(text.slice(at, end)), ({ segment }) => segment)
    const whole = end < text.length && found.length > 1 ? found.slice(0, -1) : found
    yield* whole
    at += whole.reduce((sum, { length }) => sum + length, 0)
  }
}

/** One line, cut where the columns end. */
export function oneLineOf(text: string, width: number): string {
  const most = Math.max(1, width) * PER_COLUMN
  const flat = text.slice(0, most).replace(/\s+/g, ' ').trim()
  if (text.length <= most && stringWidth(flat) <= width) return flat
  const [line = ''] = wrapAnsi(flat, Math.max(1, width - 1), { hard: true, trim: false, wordWrap: false }).split('\n')
  return `${line}…`
}

/** Fills up with spaces. */
export function padded(text: string, width: number, align: 'left' | 'right' | 'center' = 'left'): string {
  const free = Math.max(0, width - stringWidth(text))
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0
  return `${' '.repeat(before)}${text}${' '.repeat(free - before)}`
}
