/**
 * The first phase of a call: aliases → check, repair and check again → precondition → permission. All of it may be
 * repeated. A call counts as begun only after this phase, so a worker that dies in this phase leaves nothing unknown.
 */
import { StelloError } from '../../core/errors.ts'
import type { ToolCall } from '../../core/message.ts'
import type { Checked, Tool, ToolContext } from '../../tool/tool.ts'
import type { Permit } from '../deps.ts'
import { parseArguments } from './parse-arguments.ts'
import type { ToolUse } from './tool-use.ts'

export interface Preparing {
  call: ToolCall
  tool: Tool
  use: ToolUse
  /** Unset = everything is permitted. */
  permit?: Permit
  /** A person has permitted this very call. `permit` may still deny it, but a new question of `permit` is ignored. */
  approved: boolean
}

/** The call as it will run: the tool as it was opened for this call, and checked arguments. */
export interface Prepared {
  tool: Tool
  args: unknown
}

/**
 * @returns `asks`: the question that a person must answer first
 * @throws StelloError with the code of the stage that refused; every error of the tool's own code
 */
export async function prepare(
  { call, tool, use, permit, approved }: Preparing,
  ctx: ToolContext,
): Promise<Prepared | { asks: string }> {
  await use.complete()
  const opened = await use.open(tool, ctx)
  const args = checked(call, opened.check)
  await opened.precondition?.(args, ctx)
  const permission = await permit?.(opened, args, ctx)
  if (permission?.kind === 'deny') throw new StelloError('TOOL_PERMISSION_DENIED', permission.reason)
  if (permission?.kind === 'ask' && !approved) return { asks: permission.question }
  return { tool: opened, args }
}

/** Whether slow code may run in this phase. Only then is it worth an extra write to mark the end of the phase. */
export function preparesSlowly(tool: Tool, permit: Permit | undefined): boolean {
  return Boolean(permit ?? tool.precondition ?? tool.open ?? tool.onPartial)
}

/** @throws StelloError TOOL_VALIDATION_ERROR */
export function checked(call: ToolCall, check: (args: unknown) => Checked): unknown {
  const parsed = parseArguments(call, check)
  if (parsed.ok) return parsed.value
  throw new StelloError('TOOL_VALIDATION_ERROR', parsed.problem)
}
