/** A call that was begun and whose end nobody knows (durability 11): its tool finds out, or says who is told. */
import { messageOf, toStelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { Tool, Verification } from '../../tool/tool.ts'
import type { Decision, PendingItem, Question, ToolOutcome } from '../../protocol/steps.ts'
import { newEvent } from '../../protocol/events.ts'
import { pendingId } from '../../protocol/keys.ts'
import type { Deps } from '../deps.ts'
import { withinTimeOut } from './execute.ts'
import { parseArguments } from './parse-arguments.ts'
import { withEvent, type Ending } from '../step/end-step.ts'
import { shownNames } from './call-names.ts'
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

/** Asks a person; a question that was put before stays as it is. */
export function askPerson(
  { input, call }: CallAtHand,
  { gen, lease, parked }: { gen: number; lease: number; parked?: PendingItem },
): Ending<ToolOutcome> {
  const question: Question = parked ?? {
    id: pendingId({ key: input.key, gen, lease }),
    kind: 'unknown_outcome',
    ...shownNames(input.call),
    turn: input.turn,
    round: input.round,
    preview: preview(call.arguments, 200),
    message: `"${input.call.title ?? call.name}" was begun, and nobody knows how it ended: did it take effect?`,
  }
  return { kind: 'park', question, result: waits(question, gen) }
}

/** What the workflow is told of a call that waits for a person. */
export function waits({ id, kind }: Question, gen: number): ToolOutcome {
  return { kind: 'pending', gen, item: { id, kind } }
}

/** What the model reads. */
export function unknownText(name: string): string {
  return (
    `the worker died while "${name}" was running: whether it took effect is unknown, and it was not run again. ` +
    'Check its effect before you decide to call it once more.'
  )
}

/** What ends the wait also closes its item. */
export function closing<Outcome>(
  ending: Ending<Outcome>,
  { id, kind, name, title, callId, turn, round }: PendingItem,
  decision: Decision | 'cancelled',
): Ending<Outcome> {
  const data = { id, kind, name, ...(title !== undefined && { title }), callId, turn, decision }
  return withEvent(ending, newEvent('pending.closed', { of: [id], at: { turn, round }, data }))
}
