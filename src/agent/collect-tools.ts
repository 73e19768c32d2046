/** Reads the tools of an agent or a profile: every problem is reported, not only the first. */
import { STELLO_TOOLS } from './builtins.ts'
import { StelloError } from '../core/errors.ts'
import { toTool } from '../tool/to-tool.ts'
import type { Tool } from '../tool/tool.ts'

export interface Collecting {
  /** Names the profile in messages; empty for the agent itself. */
  where: string
  /** Runs `read`; a StelloError becomes a problem of the agent and `otherwise` the value. */
  attempt: <T>(read: () => T, otherwise: T) => T
  warnings: string[]
}

/**
 * The tools by name. A tool named like one of Stello's own is left out with a warning. A name that comes twice is a
 * problem.
 */
export function collectTools(given: readonly unknown[], { where, attempt, warnings }: Collecting): Map<string, Tool> {
  const tools = new Map<string, Tool>()
  for (const each of given) attempt(() => addTool(tools, each, { where, warnings }), undefined)
  return tools
}

/** @throws StelloError INVALID_TOOL */
export function addTool(
  tools: Map<string, Tool>,
  given: unknown,
  { where, warnings }: Omit<Collecting, 'attempt'>,
): void {
  const tool = toTool(given)
  if (STELLO_TOOLS.includes(tool.name)) {
    warnings.push(`${where}tool "${tool.name}" is left out: Stello's own tool of that name comes first; rename yours`)
    return
  }
  if (tools.has(tool.name)) {
    throw new StelloError('INVALID_TOOL', `${where}tool "${tool.name}" is there twice; rename or remove one of them`)
  }
  tools.set(tool.name, tool)
}
