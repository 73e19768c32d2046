/**
 * The one way every call takes, in this order: find → aliases → validate → repair and validate again → precondition →
 * permission → execute, all of it under the tool's time-out. Behind it, for results and errors alike: normalise and limit
 * (`tool-result.ts`), then the statistics (`session/stats.ts`).
 */
import type { StelloAgent } from '../../agent/agent.ts'
import { StelloError } from '../../core/errors.ts'
import type { ToolCall } from '../../core/message.ts'
import { toolNotFound, type SessionTools } from '../../agent/tool-list.ts'
import type { Checked } from '../../tool/tool.ts'
import { runBuiltin } from './builtin-tools.ts'
import { executeTool, type Execution } from './execute-tool.ts'
import { parseArguments } from './parse-arguments.ts'
import type { CallEnd } from './tool-result.ts'
import type { ToolUse } from './tool-use.ts'
import type { Permit } from '../deps.ts'

export interface PipelineRun {
  call: ToolCall
  tools: SessionTools
  agent: StelloAgent
  use: ToolUse
  /** Unset = everything is permitted. */
  permit?: Permit
  execution: Execution
}

/** @throws StelloError with the code of the stage that refused; whatever the tool throws */
export async function runPipeline({ call, tools, agent, use, permit, execution }: PipelineRun): Promise<CallEnd> {
  const found = tools.find(call.name)
  if (!found) throw toolNotFound(call.name, tools)
  if ('builtin' in found) return runBuiltin(found.builtin.name, checked(call, found.builtin.check), agent)
  const value = await executeTool(call.name, execution, async (ctx) => {
    await use.complete()
    const tool = await use.open(found.tool, ctx)
    const args = checked(call, tool.check)
    await tool.precondition?.(args, ctx)
    const refusal = await permit?.(tool, args, ctx)
    if (refusal !== undefined) throw new StelloError('TOOL_PERMISSION_DENIED', refusal)
    // Timed out or cancelled meanwhile: the call has been answered, so the tool must not start behind its back.
    ctx.signal.throwIfAborted()
    use.channel.status('DOING', { params: Object(args) as Record<string, unknown> })
    return use.channel.resultOf(tool, await tool.execute(args, ctx))
  })
  return { value }
}

function checked(call: ToolCall, check: (args: unknown) => Checked): unknown {
  const parsed = parseArguments(call, check)
  if (parsed.ok) return parsed.value
  throw new StelloError('TOOL_VALIDATION_ERROR', parsed.problem)
}
