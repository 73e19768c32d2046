/** One tool call: find, check, run under its time-out, and commit the result. */
import { StelloError, isStelloError, messageOf } from '../agent/errors.ts'
import type { ToolCall } from '../agent/message.ts'
import { sessionTools, toolNotFound } from '../agent/tool-list.ts'
import type { Effect, Tool } from '../agent/tool.ts'
import type { CallToolInput, ToolOutcome } from '../session/steps.ts'
import { idempotencyKey, inputHash } from '../store/hashes.ts'
import { currentAttempt } from './attempt.ts'
import { runBuiltin } from './builtin-tools.ts'
import type { Deps } from './deps.ts'
import { executeTool } from './execute-tool.ts'
import { backoffMs } from './failures.ts'
import { parseArguments } from './parse-arguments.ts'
import { runStep, type Ending, type Mine } from './run-step.ts'
import type { SessionFacts } from './session-configs.ts'
import { toResult, type CallEnd } from './tool-result.ts'

/** Attempts at a pure or idempotent tool that throws. */
const TOOL_ATTEMPTS = 3

export async function callTool(deps: Deps, input: CallToolInput): Promise<ToolOutcome> {
  const attempt = currentAttempt(input)
  const facts = await deps.configs.read(deps.db, input.sessionId)
  const { call, chain } = await readCall(deps, input)
  const tools = sessionTools(deps.agent, facts.config)
  const found = tools.find(call.name)
  const effect: Effect = found && 'tool' in found ? found.tool.effect : 'pure'
  const hash = inputHash('tool', chain, input.index, call.name, call.arguments)
  const started = performance.now()
  const settle = (claim: Mine, end: CallEnd): Ending<ToolOutcome> =>
    toResult({ input, claim, chain, durationMs: Math.round(performance.now() - started), end })
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> => settle(claim, { error })

  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: {
      key: input.key,
      kind: 'tool',
      name: call.name,
      inputHash: hash,
      durable: effect === 'non_idempotent',
    },
    async run(claim, stop) {
      if (!found) return fail(claim, toolNotFound(call.name, tools))
      const check = 'tool' in found ? found.tool.check : found.builtin.check
      const parsed = parseArguments(call, check)
      if (!parsed.ok) return fail(claim, new StelloError('TOOL_VALIDATION_ERROR', parsed.problem))
      if ('builtin' in found) return settle(claim, runBuiltin(found.builtin.name, parsed.value, deps.agent))
      return runTool({ deps, input, facts, claim, stop, tool: found.tool, args: parsed.value, hash, settle })
    },
    // Of a tool that is gone nobody knows whether it might have been repeated.
    ...((effect === 'non_idempotent' || !found) && {
      unknown: (claim: Mine) => fail(claim, new StelloError('TOOL_OUTCOME_UNKNOWN', unknownText(call.name))),
    }),
    refused: (claim, message) =>
      fail(claim, new StelloError('TOOL_EXECUTION_ERROR', `the tool's result cannot be stored: ${message}`)),
  })
  if (!result) return { kind: 'notStarted' }
  if ('outcome' in result) return result.outcome
  throw new Error(`tool step ${input.key} met an opening`)
}

/** The whole call stands in the assistant's record; the workflow only knows a preview. */
export async function readCall(deps: Deps, input: CallToolInput): Promise<{ call: ToolCall; chain: string }> {
  const { messages, chain } = await deps.transcripts.read(deps.db, input.sessionId, input.gen, input.base)
  const call = messages.at(-1)?.toolCalls?.[input.index]
  if (call) return { call, chain }
  throw new StelloError('STORE_CORRUPT', `session ${input.sessionId}: record ${input.base} has no call ${input.index}`)
}

interface RunningTool {
  deps: Deps
  input: CallToolInput
  facts: SessionFacts
  claim: Mine
  stop: AbortSignal
  tool: Tool
  args: unknown
  /** Input hash of the step. */
  hash: string
  settle(claim: Mine, end: CallEnd): Ending<ToolOutcome>
}

async function runTool(running: RunningTool): Promise<Ending<ToolOutcome>> {
  const { deps, input, facts, claim, stop, tool, args, hash, settle } = running
  const live = deps.live.step(input.sessionId, input.key, claim.lease)
  const timeoutMs = tool.timeoutMs ?? facts.config.limits?.toolTimeoutMs ?? deps.agent.limits.toolTimeoutMs
  live.status(input.call, 'DOING', args)
  try {
    const value = await executeTool(tool, args, {
      sessionId: input.sessionId,
      messageId: input.messageId,
      callId: input.call.id,
      idempotencyKey: idempotencyKey(input.sessionId, input.key, hash),
      timeoutMs,
      stop,
      config: facts.config,
      onUpdate: (update) => live.update(input.call, update),
    })
    return settle(claim, { value })
  } catch (error) {
    if (stop.aborted && stop.reason !== 'cancel') return handOver(tool)
    if (isStelloError(error) && error.fate === 'model') return settle(claim, { error })
    if (tool.effect !== 'non_idempotent' && claim.failures + 1 < TOOL_ATTEMPTS) {
      return { kind: 'retry', error, failed: true, delayMs: backoffMs }
    }
    return settle(claim, {
      error: new StelloError('TOOL_EXECUTION_ERROR', `tool "${tool.name}" failed: ${messageOf(error)}`),
    })
  } finally {
    await live.end()
  }
}

/** The worker shuts down. What may be repeated is given back; else the next worker finds it begun and unknown. */
function handOver(tool: Tool): Ending<ToolOutcome> {
  if (tool.effect !== 'non_idempotent')
    return { kind: 'retry', error: new Error('the worker shuts down'), failed: false }
  return { kind: 'abandon', error: new Error('the worker shuts down') }
}

function unknownText(name: string): string {
  return (
    `the worker died while "${name}" was running: whether it took effect is unknown, and it was not run again. ` +
    'Check its effect before you decide to call it once more.'
  )
}
