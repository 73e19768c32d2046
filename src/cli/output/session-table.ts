/** Sessions as a table that fits the terminal: a line for each, and below it its work or its holdups. */
import pc from 'picocolors'
import stringWidth from 'string-width'
import type { RootSummary, SessionSummary } from '../../client/index.ts'
import { fitLine, padColumns } from './fit-line.ts'
import { age, flat, nowParts, stateText } from './format.ts'

/** A root has the totals of its tree, a fork has none. */
type Row = SessionSummary & Partial<Pick<RootSummary, 'tree'>>

/** Columns of a label, at least and at most, and of an agent at most. */
const LABEL = [8, 40] as const
const AGENT = 20
const SPACES = 2

/**
 * @param rows printable
 * @param columns of the terminal
 */
export function sessionTable(rows: readonly Row[], columns: number): string[] {
  if (rows.length === 0) return []
  const cells = rows.map(cellsOf)
  const head = { age: 'AGE', state: 'STATE', label: 'LABEL', agent: 'AGENT', tokens: 'TOKENS', tree: 'TREE', id: 'ID' }
  const widest = (name: keyof typeof head): number => Math.max(...[head, ...cells].map((row) => stringWidth(row[name])))
  const fixed = {
    age: widest('age'),
    state: 7,
    agent: Math.min(AGENT, widest('agent')),
    tokens: widest('tokens'),
    tree: widest('tree'),
    id: widest('id'),
  }
  const left = columns - Object.values(fixed).reduce((sum, width) => sum + width + SPACES, 0)
  const label = Math.min(LABEL[1], widest('label'), Math.max(LABEL[0], left))
  const line = (row: typeof head, state: string): string =>
    fitLine(
      [
        padColumns(row.age, fixed.age, { right: true }),
        state,
        padColumns(row.label, label),
        padColumns(row.agent, fixed.agent),
        padColumns(row.tokens, fixed.tokens, { right: true }),
        padColumns(row.tree, fixed.tree, { right: true }),
        row.id,
      ].join(' '.repeat(SPACES)),
      columns,
    )
  return [
    pc.dim(line(head, padColumns(head.state, fixed.state))),
    ...rows.flatMap((row, index) => {
      const now = nowParts(row)
        .filter((part) => part !== '')
        .join(' ')
      const below = now === '' ? [] : [fitLine(`${' '.repeat(fixed.age + SPACES)}${pc.dim('└')} ${now}`, columns)]
      return [line(cells[index] ?? head, stateText(row.state)), ...below]
    }),
  ]
}

function cellsOf(row: Row): Record<'age' | 'state' | 'label' | 'agent' | 'tokens' | 'tree' | 'id', string> {
  const { tree } = row
  return {
    age: age(row.createdAt),
    state: row.state,
    label: flat(row.label) + (row.profile === undefined ? '' : ` (${flat(row.profile)})`),
    agent: flat(row.agent),
    tokens: tree ? counted(tree.inputTokens + tree.outputTokens) : '',
    tree: tree ? String(tree.sessions) : '',
    id: row.id,
  }
}

/** @example counted(12_345) // '12k' */
function counted(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 10_000) return `${(tokens / 1000).toFixed(1)}k`
  return tokens < 1_000_000 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1_000_000).toFixed(1)}M`
}
