/** One tool call: run it through the pipeline, and commit how it ended. */
import { StelloError, isStelloError, messageOf } from '../agent/errors.ts'
import type { Message, ToolCall } from '../agent/message.ts'
import { sessionTools } from '../agent/tool-list.ts'
import type { ToolCard } from '../agent/tool-status.ts'
import type { Effect } from '../agent/tool.ts'
import type { CallToolInput, ToolOutcome } from '../session/steps.ts'
import { idempotencyKey, inputHash } from '../store/hashes.ts'
import { currentAttempt } from './attempt.ts'
import type { Deps } from './deps.ts'
import { backoffMs } from './failures.ts'
import { runPipeline } from './pipeline.ts'
import { runStep, type Ending, type Mine } from './run-step.ts'
import { ToolChannel } from './tool-channel.ts'
import { toResult, type CallEnd } from './tool-result.ts'
import { ToolUse } from './tool-use.ts'
import { useId } from './tool-uses.ts'

/** Attempts at a pure or idempotent tool that throws. */
const TOOL_ATTEMPTS = 3

export async function callTool(deps: Deps, input: CallToolInput): Promise<ToolOutcome> {
  const attempt = currentAttempt(input)
  const facts = await deps.configs.read(deps.db, input.sessionId)
  const { call, chain, messages } = await readCall(deps, input)
  const tools = sessionTools(deps.agent, facts.config)
  const found = tools.find(call.name)
  const effect: Effect = found && 'tool' in found ? found.tool.effect : 'pure'
  const hash = inputHash('tool', chain, input.index, call.name, call.arguments)
  const started = performance.now()
  const settle = (claim: Mine, end: CallEnd, card?: ToolCard): Ending<ToolOutcome> =>
    toResult({
      input,
      claim,
      chain,
      durationMs: Math.round(performance.now() - started),
      end,
      ...(card && { card }),
    })
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> => settle(claim, { error })
  const own = found && 'tool' in found ? found.tool.timeoutMs : undefined

  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: {
      key: input.key,
      kind: 'tool',
      name: call.name,
      inputHash: hash,
      durable: effect === 'non_idempotent',
    },
    async run(claim, stop, note) {
      const live = deps.live.step(input.sessionId, input.key, claim.lease)
      const stage = { live, note }
      const use = deps.toolUses.take(useId(claim.gen, input)) ?? new ToolUse(new ToolChannel(input.call, stage))
      use.channel.start(input.call, stage)
      const execution = {
        sessionId: input.sessionId,
        messageId: input.messageId,
        idempotencyKey: idempotencyKey(input.sessionId, input.key, hash),
        timeoutMs: own ?? facts.config.limits?.toolTimeoutMs ?? deps.agent.limits.toolTimeoutMs,
        stop,
        config: facts.config,
        messages,
        channel: use.channel,
      }
      try {
        return settle(claim, await runPipeline({ ...deps, call, tools, use, execution }), use.channel.card)
      } catch (error) {
        if (stop.aborted && stop.reason !== 'cancel') return handOver(effect)
        if (isStelloError(error) && error.fate === 'model') return settle(claim, { error }, use.channel.card)
        if (effect !== 'non_idempotent' && claim.failures + 1 < TOOL_ATTEMPTS) {
          return { kind: 'retry', error, failed: true, delayMs: backoffMs }
        }
        const failed = new StelloError('TOOL_EXECUTION_ERROR', `tool "${call.name}" failed: ${messageOf(error)}`)
        return settle(claim, { error: failed }, use.channel.card)
      } finally {
        deps.toolUses.end(use)
        await live.end()
      }
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
export async function readCall(
  deps: Deps,
  input: CallToolInput,
): Promise<{ call: ToolCall; chain: string; messages: Message[] }> {
  const { messages, chain } = await deps.transcripts.read(deps.db, input.sessionId, input.gen, input.base)
  const call = messages.at(-1)?.toolCalls?.[input.index]
  if (call) return { call, chain, messages }
  throw new StelloError('STORE_CORRUPT', `session ${input.sessionId}: record ${input.base} has no call ${input.index}`)
}

/** The worker shuts down. What may be repeated is given back; else the next worker finds it begun and unknown. */
function handOver(effect: Effect): Ending<ToolOutcome> {
  const error = new Error('the worker shuts down')
  return effect === 'non_idempotent' ? { kind: 'abandon', error } : { kind: 'retry', error, failed: false }
}

function unknownText(name: string): string {
  return (
    `the worker died while "${name}" was running: whether it took effect is unknown, and it was not run again. ` +
    'Check its effect before you decide to call it once more.'
  )
}
