/** The lines of a terminal for readers that are no terminal. */
import { stripVTControlCharacters } from 'node:util'
import { printable } from './printable.ts'

export function plainLines<T>(value: T, lines: (shown: T) => readonly string[]): string {
  return stripVTControlCharacters(lines(printable(value)).join('\n'))
}
