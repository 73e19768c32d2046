/** Where output goes: results to stdout, everything else to stderr; with `--json` one object per line and nothing else on stdout. */
import { isStelloError, messageOf } from '../../core/errors.ts'
import { printable, printableJson } from './printable.ts'

/**
 * The form for people: a text, or a function that makes one of the printable value. Only this function may colour it.
 */
export type Shown<T> = string | ((value: T) => string)

/** The only way to the terminal. Everything that comes from elsewhere is made printable here. */
export interface Output {
  readonly json: boolean
  /** Prints a result: `value` as a line of JSON, or its form for people. */
  result<T>(value: T, shown: Shown<T>): void
  /** Writes a piece for people: with its line ends, or without. */
  write<T>(value: T, shown: (value: T) => string): void
  /** Prints progress and remarks. */
  note(text: string): void
  /** Prints a remark about a value. */
  noteOf<T>(value: T, shown: (value: T) => string): void
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result: (value, shown) => {
      const text = (): string => (typeof shown === 'string' ? printable(shown) : shown(printable(value)))
      process.stdout.write(`${json ? printableJson(value) : text()}\n`)
    },
    write: (value, shown) => void process.stdout.write(shown(printable(value))),
    note: (text) => void process.stderr.write(`${printable(text)}\n`),
    noteOf: (value, shown) => void process.stderr.write(`${shown(printable(value))}\n`),
  }
}

/** Prints what went wrong and what to do about it. */
export function explain(error: unknown): string {
  const hint = isStelloError(error) ? error.hint : undefined
  return printable(`stello: ${messageOf(error)}${hint === undefined ? '' : `\n  ${hint}`}`)
}
