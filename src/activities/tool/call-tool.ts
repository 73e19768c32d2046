/** One tool call: prepare → execute → finish, in a step of the ledger. */
import { StelloError, messageOf, toStelloError } from '../../core/errors.ts'
import { readRetryable } from '../../core/retryable-error.ts'
import type { NewEvent } from '../../protocol/events.ts'
import type { CallToolInput, Elsewhere, ToolOutcome } from '../../protocol/steps.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { backoffOf, shutsDown } from '../step/failures.ts'
import { countCall } from '../metrics.ts'
import { withEvents, type Ending } from '../step/end-step.ts'
import { workerLost } from '../step/quarantine.ts'
import { runStep, type Hand } from '../step/run-step.ts'
import { type Mine } from '../../store/claim.ts'
import type { NewValue } from '../../store/values.ts'
import type { AgentsWaited } from '../../tool/call-agents.ts'
import { finish, type CallEnd } from './finish.ts'
import { AgentsOfCall, type AwaitsAgents } from './agents-of-call.ts'
import { endLostCall } from './lost-workspace.ts'
import { runPhases } from './phases.ts'
import { acquired, enterWorkspace, placeCall } from './place-call.ts'
import { permitCall } from './permit-call.ts'
import { preparesSlowly } from './prepare.ts'
import { asDecided, readCallAtHand, toExecution } from './tool-call.ts'
import { ToolChannel } from './tool-channel.ts'
import { ToolUse } from './tool-use.ts'
import { useId } from './tool-uses.ts'
import { askPerson } from './ask-person.ts'
import { findOut, unknownText } from './unknown-outcome.ts'

export async function callTool(deps: Deps, input: CallToolInput): Promise<ToolOutcome | Elsewhere> {
  const attempt = currentAttempt(deps, input)
  const at = await readCallAtHand(deps, input)
  const { call, chain, tools } = at
  const found = tools.find(call.name)
  const tool = found && 'tool' in found ? found.tool : undefined
  const placing = await placeCall(deps, at, tool)
  if (placing.kind === 'elsewhere') return placing
  if (placing.kind === 'lost') return endLostCall(deps, attempt, at, placing)
  const once = tool?.effect === 'non_idempotent'
  const permits = permitCall(deps, at)
  const slow = placing.kind !== 'anywhere' || permits !== undefined || (tool && preparesSlowly(tool, deps.agent.hooks))
  const preparing = once && Boolean(slow)
  const { profile, model } = at.facts.config
  const retries = { ...deps.agent.waitsOf(profile, model).tools, ...tool?.retries }
  const started = performance.now()
  const settle = (claim: Mine, end: CallEnd, told?: ToolChannel, values?: NewValue[]): Ending<ToolOutcome> =>
    withEvents(
      finish({
        input,
        claim,
        chain,
        durationMs: Math.round(performance.now() - started),
        end,
        ...(told && { told }),
        ...(values && { values }),
        ...(placing.kind === 'here' && { workspace: placing.generation }),
      }),
      ...acquired(placing, input),
    )
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> => settle(claim, { error })

  const run = async (claim: Mine, stop: AbortSignal, hand: Hand): Promise<Ending<ToolOutcome>> => {
    const told: NewEvent[] = []
    const ending = await runOnce(claim, stop, hand, told)
    return withEvents(ending, ...told)
  }
  const runOnce = async (
    claim: Mine,
    stop: AbortSignal,
    { note, begin: mark }: Hand,
    told: NewEvent[],
  ): Promise<Ending<ToolOutcome>> => {
    const live = deps.live.step(input.sessionId, input.key, claim.lease)
    const stage = { live, note }
    let begun = !preparing
    const begin = async (): Promise<void> => {
      await mark()
      begun = true
    }
    const use = deps.toolUses.take(useId(claim.gen, input)) ?? new ToolUse(new ToolChannel(input.call, stage))
    use.channel.start(input.call, stage)
    const agents = new AgentsOfCall(deps, at, claim.decided?.waited as AgentsWaited[] | undefined)
    const permit = permits?.(claim, told)
    try {
      const workspace = await enterWorkspace(deps, placing, { stop, withinMs: attempt.withinMs })
      const placed = { ...at, ...(workspace && { workspace }) }
      const until = AbortSignal.any([stop, agents.over])
      const execution = { ...toExecution(deps, placed, tool?.timeoutMs, until, use.channel), agents }
      const { answers = [] } = claim.decided ?? {}
      const called = asDecided(call, claim.decided)
      const phases = runPhases({
        ...deps,
        call: called,
        tools,
        use,
        execution,
        begin,
        answers,
        ...(permit && { permit }),
      })
      const end = await Promise.race([phases, agents.interrupted])
      if ('awaits' in end) return awaiting(claim, end)
      if ('asks' in end) return askPerson(at, claim, end.asks)
      return settle(claim, end, use.channel, execution.values.changes())
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
    const verified =
      tool &&
      (await findOut(deps, { ...at, call: asDecided(call, claim.decided) }, tool, { stop, withinMs: attempt.withinMs }))
    if (verified?.happened) return settle(claim, { value: verified.result }, undefined, verified.values)
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

/** Nothing of the call counts until it runs to its end, but what it has been told of its agents stays as it was. */
function awaiting({ gen, decided }: Mine, { awaits, found }: AwaitsAgents): Ending<ToolOutcome> {
  const kept = found.length > 0 && { decided: { ...decided, waited: found } }
  return { kind: 'reopen', result: { kind: 'awaits', gen, awaits }, writes: {}, ...kept, waits: true }
}

const UNKNOWN = { kind: 'unknown_outcome' } as const
const PERHAPS_DONE = 'It may have taken effect. '
