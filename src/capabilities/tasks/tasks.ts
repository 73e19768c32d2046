/** The pack of tasks: a list of work with owners and dependencies, kept with the session. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import type { Tool } from '../../tool/tool.ts'
import { taskCreateTool, taskGetTool, taskListTool, taskUpdateTool } from './task-tools.ts'

/**
 * The tools TaskCreate, TaskGet, TaskUpdate and TaskList.
 *
 * @example
 * defineProfile({ id: 'planner', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [tasks()] })
 */
export function tasks(): CapabilityPack & { tools: readonly Tool[] } {
  return { name: 'tasks', tools: [taskCreateTool(), taskGetTool(), taskUpdateTool(), taskListTool()] }
}
