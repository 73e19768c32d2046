/** Finds the tools that fit a query. Pure. */
import type { ToolSpec } from '../../core/model.ts'

/** The score of a word, by the place where it is found. */
const WORTH = { isName: 240, inName: 120, inTitle: 80, inDescription: 20 } as const
const SELECT = 'select:'

export interface FoundTools {
  tools: ToolSpec[]
  /** Names that were selected, and that no tool has. */
  missing: string[]
}

/**
 * @param query words, of which at least one must occur in a tool; or `select:` and names
 * @param limit of the tools that words find; those that are selected are all found
 */
export function findTools(tools: readonly ToolSpec[], query: string, limit: number): FoundTools {
  const wanted = query.trim()
  if (wanted.toLowerCase().startsWith(SELECT)) return select(tools, wanted.slice(SELECT.length))
  const words = wanted
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  const found = tools
    .map((tool) => ({ tool, worth: words.reduce((sum, word) => sum + worthOf(tool, word), 0) }))
    .filter(({ worth }) => worth > 0)
    .sort((a, b) => b.worth - a.worth || (a.tool.name < b.tool.name ? -1 : 1))
  return { tools: found.slice(0, limit).map(({ tool }) => tool), missing: [] }
}

function select(tools: readonly ToolSpec[], list: string): FoundTools {
  const names = list.split(/[\s,]+/).filter(Boolean)
  const found = names.map((name) => tools.find((tool) => tool.name.toLowerCase() === name.toLowerCase()))
  return {
    tools: [...new Set(found.filter((tool) => tool !== undefined))],
    missing: names.filter((_name, index) => found[index] === undefined),
  }
}

function worthOf({ name, displayName = '', description }: ToolSpec, word: string): number {
  const id = name.toLowerCase()
  if (id === word) return WORTH.isName
  if (id.includes(word)) return WORTH.inName
  if (displayName.toLowerCase().includes(word)) return WORTH.inTitle
  return description.toLowerCase().includes(word) ? WORTH.inDescription : 0
}
