/** Cuts lines to the width of the terminal. Colours survive the cut, and wide characters count as wide. */
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** Where the width is not known. */
const COLUMNS = 100

/** Whether results go to a terminal, so that they may be laid out for it, streamed and redrawn. */
export function onTerminal(): boolean {
  return process.stdout.isTTY === true
}

export function terminalColumns(): number {
  return process.stdout.columns || COLUMNS
}

/** @example fitLine('a long line', 6) // 'a lon…' */
export function fitLine(line: string, columns: number = terminalColumns()): string {
  if (stringWidth(line) <= columns) return line
  const [kept = ''] = wrapAnsi(line, Math.max(1, columns - 1), { hard: true, trim: false, wordWrap: false }).split('\n')
  return `${kept}…`
}

/** The text in exactly so many columns. */
export function padColumns(text: string, columns: number, { right = false }: { right?: boolean } = {}): string {
  const cut = fitLine(text, columns)
  const space = ' '.repeat(Math.max(0, columns - stringWidth(cut)))
  return right ? space + cut : cut + space
}
