/** The pack of planning: a list of a model's own work, and a mode in which the model changes nothing. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { toWaitMs, type Duration } from '../../core/duration.ts'
import type { Tool } from '../../tool/tool.ts'
import { enterPlanModeTool, exitPlanModeTool } from './plan-mode.ts'
import { todoWriteTool } from './todo-write.ts'

/** Options of the pack. */
export interface PlanningOptions {
  /**
   * How long the questions of plan mode wait: milliseconds, or text such as `'2 days'`, at most a year. Then there is no plan
   * mode, or the plan is not approved. Unset: for ever.
   */
  expiresIn?: Duration
}

/**
 * The tools TodoWrite, EnterPlanMode and ExitPlanMode: a list of things to do, and a mode for planning. Until a person
 * has approved the plan, only calls that change nothing run. Both are kept with the session.
 *
 * @throws StelloError INVALID_ARGUMENT when `expiresIn` is not a duration of 1 ms to 1 year
 * @example
 * defineProfile({ id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [planning()] })
 */
export function planning({ expiresIn }: PlanningOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  if (expiresIn !== undefined) toWaitMs(expiresIn, 'planning: expiresIn')
  return { name: 'planning', tools: [todoWriteTool(), enterPlanModeTool(expiresIn), exitPlanModeTool(expiresIn)] }
}
