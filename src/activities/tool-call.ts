/** One tool call as an activity finds it: what the model asked for, of which tool, in which session. */
import { StelloError } from '../agent/errors.ts'
import type { ToolCall } from '../agent/message.ts'
import { sessionTools, type SessionTools } from '../agent/tool-list.ts'
import type { Tool } from '../agent/tool.ts'
import type { CallToolInput } from '../session/steps.ts'
import { idempotencyKey, inputHash } from '../store/hashes.ts'
import type { Deps } from './deps.ts'
import type { Execution } from './execute-tool.ts'
import type { SessionFacts } from './session-configs.ts'

export interface CallAtHand {
  input: CallToolInput
  call: ToolCall
  /** Chain hash of the assistant's record. */
  chain: string
  /** Input hash of the step. */
  hash: string
  facts: SessionFacts
  /** What the session may use, as the worker serves it now. */
  tools: SessionTools
}

export async function readCallAtHand(deps: Deps, input: CallToolInput): Promise<CallAtHand> {
  const facts = await deps.configs.read(deps.db, input.sessionId)
  const { call, chain } = await readCall(deps, input)
  const hash = inputHash('tool', chain, input.index, call.name, call.arguments)
  return { input, call, chain, hash, facts, tools: sessionTools(deps.agent, facts.config) }
}

/** The whole call stands in the assistant's record; the workflow only knows a preview. */
export async function readCall(deps: Deps, input: CallToolInput): Promise<{ call: ToolCall; chain: string }> {
  const { messages, chain } = await deps.transcripts.read(deps.db, input.sessionId, input.gen, input.base)
  const call = messages.at(-1)?.toolCalls?.[input.index]
  if (call) return { call, chain }
  throw new StelloError('STORE_CORRUPT', `session ${input.sessionId}: record ${input.base} has no call ${input.index}`)
}

/** What the tool's code is run with; the same for every attempt at the call. */
export function toExecution(
  deps: Deps,
  { input, hash, facts }: CallAtHand,
  tool: Tool,
  stop: AbortSignal,
  onUpdate: (update: unknown) => void,
): Execution {
  return {
    sessionId: input.sessionId,
    messageId: input.messageId,
    callId: input.call.id,
    idempotencyKey: idempotencyKey(input.sessionId, input.key, hash),
    timeoutMs: tool.timeoutMs ?? facts.config.limits?.toolTimeoutMs ?? deps.agent.limits.toolTimeoutMs,
    stop,
    config: facts.config,
    onUpdate,
  }
}
