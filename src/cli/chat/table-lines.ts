/** A table in columns that fit the terminal. Pure. */
import pc from 'picocolors'
import stringWidth from 'string-width'
import { padded, wrapLines } from './wrap-lines.ts'

export interface Table {
  head: readonly string[]
  rows: readonly (readonly string[])[]
  align: readonly ('left' | 'right' | 'center')[]
}

const BETWEEN = ' │ '
/** No column gets narrower for the sake of another. */
const NARROWEST = 3

/** A table that has too many columns for the width becomes a list of its cells. */
export function tableLines({ head, rows, align }: Table, width: number): string[] {
  const room = width - BETWEEN.length * (head.length - 1)
  if (room < head.length * NARROWEST)
    return rows.flatMap((row) => row.flatMap((cell, at) => wrapLines(cell, width, `${head[at]}: `)))
  const widths = fitted(
    head.map((_, at) => Math.max(1, ...[head, ...rows].map((row) => stringWidth(row[at] ?? '')))),
    room,
  )
  const line = (row: readonly string[]): string[] => {
    const cells = widths.map((columns, at) => wrapLines(row[at] ?? '', columns))
    const height = Math.max(...cells.map(({ length }) => length))
    return Array.from({ length: height }, (_, nth) =>
      cells
        .map((cell, at) => padded(cell[nth] ?? '', widths[at] ?? 0, align[at]))
        .join(pc.dim(BETWEEN))
        .trimEnd(),
    )
  }
  return [...line(head), pc.dim(widths.map((columns) => '─'.repeat(columns)).join('─┼─')), ...rows.flatMap(line)]
}

/** The widest column gives way until all fit. */
function fitted(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted]
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths))
    widths[widest] = (widths[widest] ?? 1) - 1
  }
  return widths
}
