/** A tool call as lines: name, tip or arguments, how long it takes, and the beginning of its result. Pure. */
import pc from 'picocolors'
import type { Card } from './cards.ts'
import { oneLineOf, wrapLines } from './wrap-lines.ts'

/** Lines of a result and of a change that are shown at once. */
const RESULT_LINES = 6
const CHANGE_LINES = 24
/** Arguments that are shown while they stream. */
const PARAMS = 6

const MARKS = {
  WAIT: pc.dim('◌'),
  DOING: pc.yellow('●'),
  SUCCESS: pc.green('✓'),
  ERROR: pc.red('✗'),
} as const

/** @param now for a call that runs */
export function cardLines(card: Card, width: number, now: Date): string[] {
  const over = card.durationMs !== undefined
  const took = over ? (card.durationMs ?? 0) : now.getTime() - card.since.getTime()
  const tail = [card.code, over && took < 1000 ? '' : seconds(took)].filter(Boolean).join(' ')
  const head = `${MARKS[card.status]} ${pc.bold(oneLineOf(card.title ?? card.name, width - 2))}`
  const about = card.tip ?? (over ? paramsLine(card.params) : card.status === 'DOING' ? paramsLine(card.params) : '')
  const first = wrapLines(
    `${head}${about === '' ? '' : ` ${pc.dim(oneLineOf(about, Math.max(20, width * 2)))}`}${tail === '' ? '' : pc.dim(` ${tail}`)}`,
    width,
    { first: '', rest: '  ' },
  )
  if (over) return [...first, ...resultLines(card, width)]
  const filling = card.tip === undefined && card.status === 'WAIT' ? paramLines(card.params, width) : []
  const update = card.update === undefined ? [] : [pc.dim(`  ${oneLineOf(textOf(card.update), width - 2)}`)]
  return [...first, ...filling, ...update]
}

/** @example seconds(61_000) // '1m01s' */
export function seconds(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1000))
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`
}

/** The arguments that have come so far, a line each. */
function paramLines(params: Card['params'], width: number): string[] {
  return Object.entries(params ?? {})
    .slice(0, PARAMS)
    .map(
      ([key, value]) =>
        `  ${pc.dim(`${oneLineOf(key, 30)}:`)} ${tailOf(textOf(value), width - 6 - Math.min(30, key.length))}`,
    )
}

/** The last lines, because streaming text grows at its end. */
function tailOf(text: string, width: number): string {
  const flat = text.replace(/\s+/g, ' ')
  const room = Math.max(8, width)
  return flat.length <= room ? flat : `…${oneLineOf(flat.slice(-room + 1), room - 1)}`
}

function paramsLine(params: Card['params']): string {
  const entries = Object.entries(params ?? {})
  if (entries.length === 1) return textOf(entries[0]?.[1])
  return entries.map(([key, value]) => `${key}: ${textOf(value)}`).join(', ')
}

function resultLines({ result, status }: Card, width: number): string[] {
  const text = textOf(result).trimEnd()
  if (text === '') return []
  const isChange = isDiff(text)
  const lines = isChange
    ? changeLines(text, width)
    : wrapLines(text, width, '  ').map(status === 'ERROR' ? pc.red : pc.dim)
  return folded(lines, isChange ? CHANGE_LINES : RESULT_LINES)
}

/** The first lines, and how to see the others. */
function folded(lines: readonly string[], most: number): string[] {
  if (lines.length <= most + 1) return [...lines]
  return [...lines.slice(0, most), pc.dim(`  … ${lines.length - most} more lines (Ctrl-O or /expand)`)]
}

export function isDiff(text: string): boolean {
  return /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text)
}

/** A unified diff, without the names above it. */
export function changeLines(diff: string, width: number): string[] {
  const lines = diff.split('\n')
  return lines.slice(lines.findIndex((line) => line.startsWith('@@'))).flatMap((line) => {
    const colour = line.startsWith('+')
      ? pc.green
      : line.startsWith('-')
        ? pc.red
        : line.startsWith('@@')
          ? pc.cyan
          : pc.dim
    return line.startsWith('\\') ? [] : wrapLines(line, width, '  ').map(colour)
  })
}

/** Anything as text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}
