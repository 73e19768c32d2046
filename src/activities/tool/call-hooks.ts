/** The agent's functions before and after a call of a tool. */
import type { HookedCall, ToolHooks } from '../../agent/permission-settings.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import { sessionFactsOf } from '../session/about-session.ts'
import type { Prepared } from './prepare.ts'

/** Runs the work between `beforeTool` and `afterTool`. @throws what they throw */
export async function withHooks(
  { beforeTool, afterTool }: ToolHooks,
  { prepared, ctx }: { prepared: Prepared; ctx: ToolContext },
  { begin, work }: { begin(): Promise<void>; work(): Promise<unknown> },
): Promise<unknown> {
  if (!beforeTool && !afterTool) {
    await begin()
    return work()
  }
  const call = await hooked(prepared, ctx)
  await beforeTool?.(call)
  ctx.signal.throwIfAborted()
  await begin()
  const result = await work()
  const other: unknown = await afterTool?.(call, result)
  return other === undefined ? result : other
}

async function hooked({ tool, args }: { tool: Tool; args: unknown }, ctx: ToolContext): Promise<HookedCall> {
  const { name, kind } = tool
  const touches = (await tool.touches?.(args, ctx)) ?? []
  return {
    name,
    callId: ctx.callId,
    arguments: args,
    kind,
    touches,
    session: sessionFactsOf(ctx),
    signal: ctx.signal,
  }
}
