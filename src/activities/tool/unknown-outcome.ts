/** A call that was begun and whose end nobody knows (durability 11): its tool finds out, or says who must be told. */
import { messageOf, toStelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { NewValue } from '../../store/transcript/values.ts'
import type { Tool, Verification } from '../../tool/tool.ts'
import type { Deps } from '../deps.ts'
import { withinTimeOut } from './execute.ts'
import { parseArguments } from './parse-arguments.ts'
import { enterWorkspace, placingOf } from './place-call.ts'
import { toExecution, type CallAtHand } from './call-at-hand.ts'
import { ToolChannel } from './tool-channel.ts'
import { ToolInstance } from './tool-instance.ts'

/** `values`: of the session, as the call has left them. */
export type FoundOut = Verification & { values: NewValue[] }

/**
 * Asks a tool what happened to its call. A tool of a working folder can tell only on the host of the folder. Never throws.
 *
 * @param looking.withinMs the activity's time, which may be shorter than the tool's current time-out. If the tool used
 *   more, Temporal would give the attempt up again and again, and the question would never end
 * @returns undefined when it stays unknown
 */
export async function findOut(
  deps: Deps,
  at: CallAtHand,
  { tool, stop, withinMs }: { tool: Tool; stop: AbortSignal; withinMs: number },
): Promise<FoundOut | undefined> {
  if (!tool.verify && !tool.open) return undefined
  const channel = new ToolChannel(at.call, { live: deps.live.step(at.input.sessionId, at.input.key, 0) })
  // The tool does not run here, it only looks: people are shown nothing, and it cannot set a result.
  channel.end()
  const use = new ToolInstance(channel)
  try {
    const placing = await placingOf(deps, at, tool)
    if (!placing) return undefined
    const workspace = await enterWorkspace(deps, placing, { stop, withinMs })
    const execution = toExecution(
      deps,
      { ...at, ...(workspace && { workspace }) },
      { timeoutMs: tool.timeoutMs, stop, channel },
    )
    const bounded = { ...execution, timeoutMs: Math.min(execution.timeoutMs, withinMs) }
    const found: unknown = await withinTimeOut(tool.name, bounded, async (ctx) => {
      const opened = await use.open(tool, ctx)
      const parsed = parseArguments(at.call, opened.check)
      return parsed.ok ? opened.verify?.(parsed.value, ctx) : undefined
    })
    if (found === undefined) return undefined
    if (isVerification(found)) return { ...found, values: execution.values.changes() }
    deps.log.warn(`verify of tool "${tool.name}" returned neither { happened: true | false } nor nothing`)
  } catch (error) {
    if (toStelloError(error)?.code !== 'TOOL_CANCELLED')
      deps.log.warn(`verify of tool "${tool.name}" failed: ${preview(messageOf(error))}`)
  } finally {
    deps.keptInstances.end(use)
  }
  return undefined
}

function isVerification(found: unknown): found is Verification {
  return typeof found === 'object' && found !== null && typeof (found as Verification).happened === 'boolean'
}

/** The text that the model reads about such a call. */
export function unknownText(name: string): string {
  return (
    `the worker died while "${name}" was running: whether it took effect is unknown, and it was not run again. ` +
    'Check its effect before you decide to call it once more.'
  )
}
