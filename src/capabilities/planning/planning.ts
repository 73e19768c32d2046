/** The pack of planning: what a model writes down about its own work, and a mode in which it changes nothing. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import type { Tool } from '../../tool/tool.ts'
import { enterPlanModeTool, exitPlanModeTool } from './plan-mode.ts'
import { todoWriteTool } from './todo-write.ts'

/**
 * The tools TodoWrite, EnterPlanMode and ExitPlanMode: the list of what is to be done, and a mode in which only what
 * changes nothing runs, until a person has approved the plan. Both are kept with the session.
 *
 * @example
 * defineProfile({ id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [planning()] })
 */
export function planning(): CapabilityPack & { tools: readonly Tool[] } {
  return { name: 'planning', tools: [todoWriteTool(), enterPlanModeTool(), exitPlanModeTool()] }
}
