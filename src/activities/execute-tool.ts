/** Runs a tool's code under its time-out, with the context that is its view of the session. */
import { StelloError } from '../agent/errors.ts'
import type { Tool, ToolContext, Verified } from '../agent/tool.ts'
import type { SessionConfig } from '../session/config.ts'
import { bounded, type Bounds } from './bounded.ts'

export interface Execution {
  sessionId: string
  messageId: string
  callId: string
  idempotencyKey: string
  timeoutMs: number
  /** The user's cancel or the worker's shutdown. */
  stop: AbortSignal
  config: SessionConfig
  onUpdate(update: unknown): void
}

/** @throws StelloError TOOL_TIMEOUT, TOOL_CANCELLED, TOOL_PRECONDITION_FAILED; whatever the tool throws */
export async function executeTool(tool: Tool, args: unknown, execution: Execution): Promise<unknown> {
  return bounded(toBounds(tool, execution), async (signal) => {
    const ctx = toContext(execution, signal)
    if (tool.precondition) {
      await tool.precondition(args, ctx)
      // Timed out or cancelled meanwhile: the call has been answered, so the tool must not start behind its back.
      signal.throwIfAborted()
    }
    return tool.execute(args, ctx)
  })
}

/** Asks the tool what became of a call. @throws like `executeTool` */
export async function verifyTool(tool: Tool, args: unknown, execution: Execution): Promise<Verified> {
  return bounded(toBounds(tool, execution), async (signal) => tool.verify?.(args, toContext(execution, signal)))
}

function toBounds(tool: Tool, { timeoutMs, stop }: Execution): Bounds {
  return {
    timeoutMs,
    stop,
    timedOut: () => new StelloError('TOOL_TIMEOUT', `tool "${tool.name}" did not end within ${timeoutMs / 1000} s`),
    stopped: () => new StelloError('TOOL_CANCELLED', `tool "${tool.name}" was cancelled`),
  }
}

function toContext(execution: Execution, signal: AbortSignal): ToolContext {
  const { sessionId, messageId, callId, idempotencyKey, config, onUpdate } = execution
  return {
    sessionId,
    messageId,
    callId,
    idempotencyKey,
    signal,
    onUpdate,
    requestId: callId,
    onProgress: (message) => onUpdate({ progress: message }),
    updateOutput: (output) => onUpdate({ output }),
    ...(config.userId !== undefined && { userId: config.userId }),
    ...(config.permissionMode !== undefined && { permissionMode: config.permissionMode }),
  }
}
