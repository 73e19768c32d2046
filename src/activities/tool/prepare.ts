/**
 * The first phase of a call: aliases → check, repair and check again → precondition → permission. All of it may be
 * repeated. A call counts as begun only after this phase, so a worker that dies in this phase leaves nothing unknown.
 */
import type { ToolHooks } from '../../agent/permission-settings.ts'
import { StelloError } from '../../core/errors.ts'
import type { ToolCall } from '../../core/message.ts'
import type { Checked, Tool, ToolContext } from '../../tool/tool.ts'
import type { Permission, Permit } from './call-permit.ts'
import { parseArguments } from './parse-arguments.ts'
import type { ToolInstance } from './tool-instance.ts'

export interface Preparing {
  call: ToolCall
  tool: Tool
  use: ToolInstance
  /** Unset = everything is permitted. */
  permit?: Permit
}

/** The call as it will run: the tool as it was opened for this call, and checked arguments. */
export interface Prepared {
  tool: Tool
  args: unknown
}

/** Why a call does not run: it is denied, or a person must be asked first. */
export type Held = Exclude<Permission, { kind: 'allow' }>

/**
 * @returns a `kind` says why it does not run
 * @throws StelloError with the code of the stage that refused; every error of the tool's own code
 */
export async function prepare({ call, tool, use, permit }: Preparing, ctx: ToolContext): Promise<Prepared | Held> {
  await use.complete()
  const opened = await use.open(tool, ctx)
  const args = checked(call, opened.check)
  await opened.precondition?.(args, ctx)
  const permission = (await permit?.(opened, args, ctx)) ?? { kind: 'allow', args }
  if (permission.kind !== 'allow') return permission
  if (permission.args !== args) await opened.precondition?.(permission.args, ctx)
  return { tool: opened, args: permission.args }
}

/** Whether slow code may run in this phase. Only then is it worth an extra write to mark the end of the phase. */
export function preparesSlowly(tool: Tool, { beforeTool }: ToolHooks): boolean {
  return Boolean(beforeTool ?? tool.precondition ?? tool.open ?? tool.onPartial) || !tool.check.quick
}

/** @throws StelloError TOOL_VALIDATION_ERROR */
export function checked(call: ToolCall, check: (args: unknown) => Checked): unknown {
  const parsed = parseArguments(call, check)
  if (parsed.ok) return parsed.value
  throw new StelloError('TOOL_VALIDATION_ERROR', parsed.problem)
}
