/** Tables of the documents, for tests that compare them with the code. */
import { readFileSync } from 'node:fs'

/**
 * The cells of each row of a table.
 *
 * @param document its file in `docs`
 * @param head how the line of its headings begins
 */
export function rowsBelow(document: string, head: string): string[][] {
  const lines = readFileSync(new URL(`../../docs/${document}`, import.meta.url), 'utf8').split('\n')
  const table = lines.slice(lines.findIndex((line) => line.startsWith(head)) + 2)
  const rows = table.slice(
    0,
    table.findIndex((line) => !line.startsWith('|')),
  )
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
