/** Calls a tool of a pack as a model would: its arguments are checked, and its result is read. */
import type { ToolContext } from '../../../src/index.ts'
import { normalizeResult } from '../../../src/tool/result.ts'
import type { Tool } from '../../../src/tool/tool.ts'

export interface Answer {
  text: string
  isError: boolean
  /** What people see instead. */
  display?: string
}

export type CallToolOf = (name: string, args?: unknown) => Promise<Answer>

export function callToolOf({ tools }: { tools: readonly Tool[] }, ctx: ToolContext): CallToolOf {
  return async (name, args = {}) => {
    const tool = tools.find((each) => each.name === name)
    if (!tool) throw new Error(`the pack has no tool ${name}`)
    const checked = tool.check(args)
    if (!checked.ok) return { text: checked.problem, isError: true }
    const { content, isError, display } = normalizeResult(await tool.execute(checked.value, ctx))
    return { text: content, isError, ...(display !== undefined && { display }) }
  }
}
