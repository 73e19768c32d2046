/** A record of a transcript at a terminal: the speaker, the text, calls, and folded results. */
import pc from 'picocolors'
import type { SessionRecord } from '../../client/index.ts'
import { fitLine } from './fit-line.ts'
import { flat } from './format.ts'

/** Lines of a result that are shown; one more is shown rather than folded. */
const RESULT_LINES = 6
/** Lines of what people and models said. A long paste is folded too. */
const SAID_LINES = 60

interface RecordLinesOptions {
  sessionId: string
  columns: number
  /** Nothing is folded. */
  full: boolean
}

/** @param record printable */
export function recordLines(
  { message, seq, inheritedFrom }: SessionRecord,
  { sessionId, columns, full }: RecordLinesOptions,
): string[] {
  const { role, content, name, toolCalls = [] } = message
  const command = `stello transcript ${inheritedFrom ?? sessionId} --at ${seq}`
  const fold = (lines: string[], most: number): string[] => {
    if (full || lines.length <= most + 1) return full ? lines : lines.map((line) => fitLine(line, columns))
    const kept = lines.slice(0, most).map((line) => fitLine(line, columns))
    return [...kept, fitLine(pc.dim(`  … ${lines.length - most} more lines: ${command}`), columns)]
  }
  if (role === 'tool') {
    const lines = content.trimEnd().split('\n')
    return fold(
      lines.map((line, index) => `${index === 0 ? pc.dim('  ⎿ ') : '    '}${pc.dim(line)}`),
      RESULT_LINES,
    )
  }
  const said = content.trim() === '' ? [] : content.trimEnd().split('\n')
  const calls = toolCalls.map(({ name: tool, arguments: given }) => {
    const line = `${pc.yellow('⚒')} ${flat(tool)} ${pc.dim(flat(given))}`
    return full ? line : fitLine(line, columns)
  })
  const mark = role === 'user' ? pc.cyan('› ') : role === 'system' ? pc.dim('system: ') : ''
  const from = name === undefined ? '' : pc.dim(`${flat(name)}: `)
  const colour = role === 'user' ? pc.cyan : (text: string): string => text
  const shown = said.map((line, index) => (index === 0 ? mark + from : role === 'user' ? '  ' : '') + colour(line))
  // Paragraphs wrap by themselves: only their number is bounded.
  const text = full || shown.length <= SAID_LINES + 1 ? shown : fold(shown, SAID_LINES)
  return ['', ...text, ...calls]
}
