/**
 * The end of a terminal, which is drawn again and again. Makes the text that writes lines above it for good and draws it anew
 * below them. Lines above it are never drawn again, however often the size changes. Pure.
 */
import stringWidth from 'string-width'

export interface Frame {
  /** No wider than the terminal, and at least one. */
  lines: readonly string[]
  /** Where the person types: a column of a line. */
  cursor: { x: number; y: number }
}

export const NO_FRAME: Frame = { lines: [''], cursor: { x: 0, y: 0 } }

/** Terminals that know it show all at once; the cursor is not seen on its way. */
const BEGIN = '\u001b[?2026h\u001b[?25l'
const END = '\u001b[?25h\u001b[?2026l'
const CLEAR_BELOW = '\u001b[J'

/**
 * Takes away the frame that ends the terminal now, writes lines for good, and draws the next frame.
 *
 * @param columns now: a terminal that has become narrower has broken what was drawn into more rows
 */
export function redrawn(
  before: Frame,
  { printed, frame: next }: { printed: readonly string[]; frame: Frame },
  columns: number,
): string {
  const { x, y } = next.cursor
  const text = [...printed, ...next.lines].join('\n')
  const toCursor = `${up(next.lines.length - 1 - y)}\r${x === 0 ? '' : `\u001b[${x}C`}`
  return `${BEGIN}${up(rowsAbove(before, columns))}\r${CLEAR_BELOW}${text}${toCursor}${END}`
}

export function isSameFrame(one: Frame, other: Frame): boolean {
  const isThere = one.cursor.x === other.cursor.x && one.cursor.y === other.cursor.y
  return isThere && one.lines.length === other.lines.length && one.lines.every((line, at) => line === other.lines[at])
}

/** Rows of a frame above the row of its cursor. */
function rowsAbove({ lines, cursor }: Frame, columns: number): number {
  const rows = (line: string): number => Math.max(1, Math.ceil(stringWidth(line) / columns))
  const above = lines.slice(0, cursor.y).reduce((sum, line) => sum + rows(line), 0)
  return above + Math.floor(cursor.x / columns)
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : ''
}
