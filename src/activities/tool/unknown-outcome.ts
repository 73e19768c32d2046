/** A call that was begun and whose end nobody knows (durability 11): its tool finds out, or says who is told. */
import { messageOf, toStelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { Tool, Verification } from '../../tool/tool.ts'
import type { Deps } from '../deps.ts'
import { withinTimeOut } from './execute.ts'
import { parseArguments } from './parse-arguments.ts'
import { toExecution, type CallAtHand } from './tool-call.ts'
import { ToolChannel } from './tool-channel.ts'
import { ToolUse } from './tool-use.ts'

/**
 * What a tool found out about its call; `undefined`: it is unknown. Never throws.
 *
 * @param bounds.withinMs of the activity, which may be shorter than the time the tool has by now: given up by Temporal,
 *   the call would be looked into for ever
 */
export async function findOut(
  deps: Deps,
  at: CallAtHand,
  tool: Tool,
  { stop, withinMs }: { stop: AbortSignal; withinMs: number },
): Promise<Verification | undefined> {
  if (!tool.verify && !tool.open) return undefined
  const channel = new ToolChannel(at.call, { live: deps.live.step(at.input.sessionId, at.input.key, 0) })
  // To find out is not to run: people are shown nothing, and what it sets is no result.
  channel.end()
  const use = new ToolUse(channel)
  try {
    const execution = toExecution(deps, at, tool.timeoutMs, stop, channel)
    const bounded = { ...execution, timeoutMs: Math.min(execution.timeoutMs, withinMs) }
    const found: unknown = await withinTimeOut(tool.name, bounded, async (ctx) => {
      const opened = await use.open(tool, ctx)
      const parsed = parseArguments(at.call, opened.check)
      return parsed.ok ? opened.verify?.(parsed.value, ctx) : undefined
    })
    if (found === undefined || isVerification(found)) return found
    deps.log.warn(`verify of tool "${tool.name}" returned neither { happened: true | false } nor nothing`)
  } catch (error) {
    if (toStelloError(error)?.code !== 'TOOL_CANCELLED')
      deps.log.warn(`verify of tool "${tool.name}" failed: ${preview(messageOf(error))}`)
  } finally {
    deps.toolUses.end(use)
  }
  return undefined
}

function isVerification(found: unknown): found is Verification {
  return typeof found === 'object' && found !== null && typeof (found as Verification).happened === 'boolean'
}

/** What the model reads. */
export function unknownText(name: string): string {
  return (
    `the worker died while "${name}" was running: whether it took effect is unknown, and it was not run again. ` +
    'Check its effect before you decide to call it once more.'
  )
}
