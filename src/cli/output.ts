/** Where output goes: results to stdout, everything else to stderr; with `--json` one object per line and nothing else on stdout. */
import { isStelloError, messageOf } from '../agent/errors.ts'

export interface Output {
  readonly json: boolean
  /** A result: `value` as a line of JSON, or `text` for people. */
  result(value: unknown, text: string): void
  /** Progress and remarks. */
  note(text: string): void
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result: (value, text) => void process.stdout.write(`${json ? JSON.stringify(value) : text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
  }
}

/** What went wrong and what to do about it. */
export function explain(error: unknown): string {
  const hint = isStelloError(error) ? error.hint : undefined
  return `stello: ${messageOf(error)}${hint === undefined ? '' : `\n  ${hint}`}`
}
