/** The narrow rules that would let the same parts of a call run without a question. People see them before they answer. */
import { hostOf } from './match-url.ts'
import type { Part } from './part.ts'
import { ruleProblem, toRule } from './rule.ts'
import type { Touch } from '../tool/touch.ts'

/** Signs of variables, substitutions, wildcards and braces, and what stands for words of xargs. */
const MAY_VARY = /[$`*?[{…]/

/** @returns none when a part cannot be named by a rule */
export function suggestRules(parts: readonly Part[]): string[] {
  const rules = parts.map(suggested)
  return rules.every((rule) => rule !== undefined) ? [...new Set(rules)] : []
}

function suggested(part: Part): string | undefined {
  const rule = ruleFor(part)
  // A text with signs of rules in it, such as a command that ends in `:*`, would make a wider rule or no rule.
  return rule !== undefined && !ruleProblem(rule) && toRule(rule).matches(part, 'strict') ? rule : undefined
}

function ruleFor({ tool, touch, root }: Part): string | undefined {
  switch (touch?.kind) {
    case undefined:
      return tool
    case 'command':
      return /\*\s*$/.test(touch.command) || isOpen(touch) ? undefined : `${tool}(${touch.command.trim()})`
    case 'url': {
      const host = hostOf(touch.url)
      return host && `${tool}(domain:${host})`
    }
    case 'read':
    case 'write':
      return `${touch.kind === 'read' ? 'Read' : 'Edit'}(${patternOf(touch.path, root)})`
    // A rule for the server would let all of its tools run.
    case 'server':
    case 'unknown':
      return undefined
  }
}

/**
 * Whether the words may differ each time that the command runs: `$x`, wildcards, words that xargs adds. Such signs inside
 * quotes do not count.
 */
function isOpen({ command, argv }: Extract<Touch, { kind: 'command' }>): boolean {
  const quoted = argv.map((word) => (MAY_VARY.test(word) ? `'${word.replaceAll("'", String.raw`'\''`)}'` : undefined))
  let at = 0
  return argv.some((word, index) => {
    const text = quoted[index] ?? word
    const found = command.indexOf(text, at)
    if (found >= 0) at = found + text.length
    return quoted[index] !== undefined && found < 0
  })
}

/** The file's folder and all below; for a file of the root, the file. Signs of patterns stand for themselves. */
function patternOf(path: string, root: string | undefined): string {
  const literal = (text: string): string => text.replace(/[\\*?[\]!# ]/g, '\\$&')
  const folder = root?.replace(/\/+$/, '')
  if (folder === undefined || !path.startsWith(`${folder}/`)) return `/${literal(path)}`
  const below = path.slice(folder.length)
  const parent = below.slice(0, below.lastIndexOf('/'))
  return parent === '' ? literal(below) : `${literal(parent)}/**`
}
