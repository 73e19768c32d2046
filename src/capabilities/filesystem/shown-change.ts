/** A change as model and people read it. */
import { formatPatch, structuredPatch, type StructuredPatch } from 'diff'

export interface ShownChange {
  /** The new lines around the change, numbered; empty when there is too much to compare. */
  snippet: string
  /** A unified diff. */
  diff?: string
  hunks?: StructuredPatch['hunks']
}

const CONTEXT_LINES = 4
const SNIPPET_LINES = 60
/** Comparing only helps readers, so it must not hold up the worker. */
const COMPARE_MS = 500

export function showChange(name: string, before: string, after: string): ShownChange {
  const options = { context: CONTEXT_LINES, timeout: COMPARE_MS }
  const patch = structuredPatch(name, name, before, after, undefined, undefined, options)
  if (!patch) return { snippet: '' }
  const lines = patch.hunks.flatMap(({ newStart, lines }) =>
    lines.filter((line) => /^[ +]/.test(line)).map((line, index) => numbered(newStart + index, line.slice(1))),
  )
  return { snippet: lines.slice(0, SNIPPET_LINES).join('\n'), diff: formatPatch(patch), hunks: patch.hunks }
}

/** Numbered lines as `cat -n` writes them, which models know. */
export function numbered(line: number, text: string): string {
  return `${String(line).padStart(6)}→${text}`
}
