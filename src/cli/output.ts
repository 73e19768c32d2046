/** Where output goes: results to stdout, everything else to stderr; with `--json` one object per line and nothing else on stdout. */
import { isStelloError, messageOf } from '../core/errors.ts'
import { printable, printableJson } from './printable.ts'

/** For people: a text, or what makes one of the value as it may be printed; only that may colour it. */
export type Shown<T> = string | ((value: T) => string)

/** The only way to the terminal: whatever comes from elsewhere becomes printable here. */
export interface Output {
  readonly json: boolean
  /** A result: `value` as a line of JSON, or as it is shown to people. */
  result<T>(value: T, shown: Shown<T>): void
  /** Progress and remarks. */
  note(text: string): void
  /** A remark about a value. */
  noteOf<T>(value: T, shown: (value: T) => string): void
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result: (value, shown) => {
      const text = (): string => (typeof shown === 'string' ? printable(shown) : shown(printable(value)))
      process.stdout.write(`${json ? printableJson(value) : text()}\n`)
    },
    note: (text) => void process.stderr.write(`${printable(text)}\n`),
    noteOf: (value, shown) => void process.stderr.write(`${shown(printable(value))}\n`),
  }
}

/** What went wrong and what to do about it. */
export function explain(error: unknown): string {
  const hint = isStelloError(error) ? error.hint : undefined
  return printable(`stello: ${messageOf(error)}${hint === undefined ? '' : `\n  ${hint}`}`)
}
