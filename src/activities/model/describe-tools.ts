/** The descriptions of tools for a model. Dynamic tools are asked for theirs at each model call. */
import { messageOf } from '../../core/errors.ts'
import type { ToolSpec } from '../../core/model.ts'
import { specOf, type SessionTools } from '../../agent/tool-list.ts'
import type { Tool } from '../../tool/tool.ts'
import type { AboutSession } from '../session/about-session.ts'
import { bounded } from '../step/bounded.ts'

/** A tool that takes longer to describe itself is left out. */
const DESCRIBE_MS = 10_000

export interface Describing {
  /** Fires on the user's cancel and on the worker's shutdown. */
  stop: AbortSignal
  log: { warn(message: string, meta?: Record<string, unknown>): void }
}

/** A tool that cannot be described now is left out of this model call, with a warning: the others still work. */
export async function describeTools(
  tools: SessionTools,
  context: AboutSession,
  { stop, log }: Describing,
): Promise<ToolSpec[]> {
  const described = tools.specs.map(async (spec): Promise<ToolSpec[]> => {
    const found = tools.find(spec.name)
    const open = found && 'tool' in found ? found.tool.open : undefined
    if (!open) return [spec]
    try {
      return [{ ...(await describe(open, context, stop)), name: spec.name }]
    } catch (error) {
      stop.throwIfAborted()
      log.warn(`tool "${spec.name}" is left out of a model call: ${messageOf(error)}`, { sessionId: context.sessionId })
      return []
    }
  })
  return (await Promise.all(described)).flat()
}

function describe(open: NonNullable<Tool['open']>, context: AboutSession, stop: AbortSignal): Promise<ToolSpec> {
  const bounds = {
    timeoutMs: DESCRIBE_MS,
    stop,
    timedOut: () => new Error(`it did not say what it does within ${DESCRIBE_MS / 1000} s`),
    stopped: () => new Error('stopped'),
  }
  return bounded(bounds, async (signal) => {
    const { tool, dispose } = await open({ ...context, signal })
    await dispose()
    return specOf(tool)
  })
}
