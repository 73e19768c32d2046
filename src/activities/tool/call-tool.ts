/** One tool call: prepare → execute → finish, in a step of the ledger. */
import { StelloError, messageOf, toStelloError } from '../../core/errors.ts'
import { readRetryable } from '../../core/retryable-error.ts'
import type { CallToolInput, ToolOutcome } from '../../protocol/steps.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { backoffOf, shutsDown } from '../step/failures.ts'
import { countCall } from '../metrics.ts'
import type { Ending } from '../step/end-step.ts'
import { workerLost } from '../step/quarantine.ts'
import { runStep, type Hand } from '../step/run-step.ts'
import { type Mine } from '../../store/claim.ts'
import { finish, type CallEnd } from './finish.ts'
import { runPhases } from './phases.ts'
import { preparesSlowly } from './prepare.ts'
import { readCallAtHand, toExecution } from './tool-call.ts'
import { ToolChannel } from './tool-channel.ts'
import { ToolUse } from './tool-use.ts'
import { useId } from './tool-uses.ts'
import { askPerson } from './ask-person.ts'
import { findOut, unknownText } from './unknown-outcome.ts'

export async function callTool(deps: Deps, input: CallToolInput): Promise<ToolOutcome> {
  const attempt = currentAttempt(deps, input)
  const at = await readCallAtHand(deps, input)
  const { call, chain, tools } = at
  const found = tools.find(call.name)
  const tool = found && 'tool' in found ? found.tool : undefined
  const once = tool?.effect === 'non_idempotent'
  const preparing = once && preparesSlowly(tool, deps.permit)
  const { profile, model } = at.facts.config
  const retries = { ...deps.agent.waitsOf(profile, model).tools, ...tool?.retries }
  const started = performance.now()
  const settle = (claim: Mine, end: CallEnd, told?: ToolChannel): Ending<ToolOutcome> =>
    finish({
      input,
      claim,
      chain,
      durationMs: Math.round(performance.now() - started),
      end,
      ...(told && { told }),
    })
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> => settle(claim, { error })

  const run = async (claim: Mine, stop: AbortSignal, { note, begin: mark }: Hand): Promise<Ending<ToolOutcome>> => {
    const live = deps.live.step(input.sessionId, input.key, claim.lease)
    const stage = { live, note }
    let begun = !preparing
    const begin = async (): Promise<void> => {
      await mark()
      begun = true
    }
    const use = deps.toolUses.take(useId(claim.gen, input)) ?? new ToolUse(new ToolChannel(input.call, stage))
    use.channel.start(input.call, stage)
    const execution = toExecution(deps, at, tool?.timeoutMs, stop, use.channel)
    try {
      const approved = claim.decided?.kind === 'approval'
      const end = await runPhases({ ...deps, call, tools, use, execution, begin, approved })
      if ('asks' in end) return askPerson(at, claim, { kind: 'approval', about: end.asks })
      return settle(claim, end, use.channel)
    } catch (error) {
      const retryable = readRetryable(error)
      if (stop.aborted && stop.reason !== 'cancel') return handOver(once && begun && !retryable)
      const known = toStelloError(error)
      if (known?.fate === 'model') return settle(claim, { error: known }, use.channel)
      if ((retryable ?? !(once && begun)) && claim.failures + 1 < retries.attempts) {
        const delayMs = (failures: number): number => retryable?.afterMs ?? backoffOf(failures, retries)
        return { kind: 'retry', error, failed: true, delayMs }
      }
      const failed = new StelloError('TOOL_EXECUTION_ERROR', `tool "${call.name}" failed: ${messageOf(error)}`)
      return settle(claim, { error: failed }, use.channel)
    } finally {
      deps.toolUses.end(use)
      await live.end()
    }
  }
  const unknown = async (claim: Mine, stop: AbortSignal): Promise<Ending<ToolOutcome>> => {
    const verified = tool && (await findOut(deps, at, tool, { stop, withinMs: attempt.withinMs }))
    if (verified?.happened) return settle(claim, { value: verified.result })
    // This attempt does not run the tool, because a part of its time is used up. When Temporal gave the attempt up, the
    // next attempt would run the tool a second time while it still runs here.
    if (verified) return { kind: 'reopen', result: { kind: 'due', gen: claim.gen }, writes: {} }
    if (stop.reason === 'shutdown') return { kind: 'retry', error: shutsDown(), failed: false, begun: true }
    if (tool?.onUnknownOutcome === 'ask' && !stop.aborted) return askPerson(at, claim, UNKNOWN)
    return fail(claim, new StelloError('TOOL_OUTCOME_UNKNOWN', unknownText(call.name)))
  }
  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: { key: input.key, kind: 'tool', name: call.name, inputHash: at.hash, durable: once && !preparing, preparing },
    run,
    // A tool that is no longer listed may have been one that must not be repeated.
    ...((once || !found) && { unknown }),
    quarantined(claim) {
      if (found && !(once && claim.begun))
        return fail(claim, workerLost(call.name, claim, tool?.effect === 'idempotent' ? PERHAPS_DONE : ''))
      if (tool?.onUnknownOutcome === 'ask') return askPerson(at, claim, UNKNOWN)
      return fail(claim, new StelloError('TOOL_OUTCOME_UNKNOWN', unknownText(call.name)))
    },
    callId: call.id,
    settled: (outcome) => countCall(deps.metrics, at, outcome),
    refused: (claim, message) =>
      fail(claim, new StelloError('TOOL_EXECUTION_ERROR', `the tool's result cannot be stored: ${message}`)),
  })
  if ('kind' in result) return result
  if ('outcome' in result) return result.outcome
  throw new Error(`tool step ${input.key} met an opening`)
}

/**
 * The worker shuts down. A step that may be repeated is given back; the next worker finds any other step begun, with an
 * unknown end.
 */
function handOver(lost: boolean): Ending<ToolOutcome> {
  return lost ? { kind: 'abandon', error: shutsDown() } : { kind: 'retry', error: shutsDown(), failed: false }
}

const UNKNOWN = { kind: 'unknown_outcome' } as const
const PERHAPS_DONE = 'It may have taken effect. '
