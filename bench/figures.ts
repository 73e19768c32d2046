/** The figures of a measurement, and how they are printed. */
import pc from 'picocolors'
import { ROWS, type Measurement, type Aim, type Row } from './rows.ts'

export interface Figure extends Row {
  row: string
  value: number
}

/** What a measurement returns: a value for each of its rows. */
export type Values<Name extends Measurement> = Record<keyof (typeof ROWS)[Name], number>

/** In the order of the table. */
export function figuresOf<Name extends Measurement>(name: Name, values: Values<Name>): Figure[] {
  const rows: Record<string, Row> = ROWS[name]
  const all: Record<string, number> = values
  return Object.entries(rows).map(([row, { unit, aim }]) => ({
    row,
    value: all[row] ?? NaN,
    unit,
    ...(aim && { aim }),
  }))
}

export function isMet({ value, aim }: Figure): boolean {
  return value <= (aim?.atMost ?? Infinity) && value >= (aim?.atLeast ?? -Infinity)
}

export function toJson(figure: Figure): string {
  const { row, value, unit, aim } = figure
  return JSON.stringify({ row, value: round(value), unit, aim: aim ? toText(aim) : null, ok: isMet(figure) })
}

export function toLine(figure: Figure): string {
  const { row, value, unit, aim } = figure
  const met = !aim ? '' : isMet(figure) ? pc.green('ok') : pc.red('missed')
  return `${row.padEnd(32)} ${String(round(value)).padStart(10)} ${unit.padEnd(10)} ${(aim ? toText(aim) : '').padEnd(9)} ${met}`.trimEnd()
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = NaN, high = NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return (low + high) / 2
}

function toText({ atMost, atLeast }: Aim): string {
  return atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`
}

function round(value: number): number {
  return Number(value.toPrecision(Math.abs(value) >= 1000 ? 5 : 3))
}
