/** The lines of a change of a file, from the details of a result or from what was asked for. Pure. */
import { structuredPatch } from 'diff'
import { isObject } from '../../core/is-object.ts'

export interface DiffLine {
  sign: '+' | '-' | ' ' | 'place'
  text: string
}

interface Hunk {
  oldStart: number
  newStart: number
  lines: string[]
}

const CONTEXT = 3
/** A longer change is no longer read on a card. */
const MOST_CHARS = 200_000

/**
 * @param name of the tool @param args of the call @param details of its result
 * @returns undefined: the call changes no file, or has not said how
 */
export function shownDiff(name: string, args: unknown, details: unknown): DiffLine[] | undefined {
  const hunks = hunksIn(details) ?? hunksOf(name, isObject(args) ? args : {})
  return hunks?.flatMap(({ oldStart, lines }): DiffLine[] => [
    { sign: 'place', text: `line ${oldStart}` },
    // What begins with a backslash is a remark about the file's end.
    ...lines
      .filter((line) => !line.startsWith('\\'))
      .map((line): DiffLine => ({ sign: signOf(line), text: line.slice(1) })),
  ])
}

function signOf(line: string): DiffLine['sign'] {
  const first = line.charAt(0)
  return first === '+' || first === '-' ? first : ' '
}

/** The change of a file, as a tool has reported it in `details`. */
function hunksIn(details: unknown): Hunk[] | undefined {
  const hunks = isObject(details) ? details['hunks'] : undefined
  return Array.isArray(hunks) && hunks.length > 0 && hunks.every(isHunk) ? hunks : undefined
}

function isHunk(value: unknown): value is Hunk {
  if (!isObject(value)) return false
  const { oldStart, lines } = value
  return typeof oldStart === 'number' && Array.isArray(lines) && lines.every((line) => typeof line === 'string')
}

/** The names that the tool sets of this project and of others give their arguments. */
const BEFORE = ['old_string', 'oldText', 'old_str']
const AFTER = ['new_string', 'newText', 'new_str', 'content']

function hunksOf(name: string, args: Record<string, unknown>): Hunk[] | undefined {
  if (!/^(multi)?(edit|write|str_replace|create)/i.test(name)) return undefined
  const before = textOf(args, BEFORE) ?? ''
  const after = textOf(args, AFTER)
  if (after === undefined || before.length + after.length > MOST_CHARS) return undefined
  return structuredPatch('', '', before, after, undefined, undefined, { context: CONTEXT, timeout: 100 })?.hunks
}

function textOf(args: Record<string, unknown>, keys: readonly string[]): string | undefined {
  const found = keys.map((key) => args[key]).find((value) => typeof value === 'string')
  return typeof found === 'string' ? found : undefined
}
