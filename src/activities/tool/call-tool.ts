/** One tool call, in a step of the ledger: decides where it runs, and what follows when nobody knows how it ended. */
import { StelloError } from '../../core/errors.ts'
import type { CallToolInput, Elsewhere, ToolOutcome } from '../../protocol/steps.ts'
import { currentAttempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import { countCall } from '../metrics.ts'
import type { Ending } from '../step/end-step.ts'
import { workerLost } from '../step/quarantine.ts'
import { runStep } from '../step/run-step.ts'
import { type Mine } from '../../store/ledger/claim.ts'
import { endWithoutWorkspace } from './lost-workspace.ts'
import { placeCall } from './place-call.ts'
import { permitCall } from './permit-call.ts'
import { preparesSlowly } from './prepare.ts'
import { runCall, settleCall, type PlacedCall } from './run-call.ts'
import { asItBegan, readCallAtHand } from './call-at-hand.ts'
import { UNKNOWN, askPerson } from './ask-person.ts'
import { findOut, unknownText } from './unknown-outcome.ts'

export async function callTool(deps: Deps, input: CallToolInput): Promise<ToolOutcome | Elsewhere> {
  const attempt = currentAttempt(deps, input)
  const at = await readCallAtHand(deps, input)
  const { call, tools } = at
  const found = tools.find(call.name)
  const tool = found && 'tool' in found ? found.tool : undefined
  const placing = await placeCall(deps, at, tool)
  if (placing.kind === 'elsewhere') return placing
  if (placing.kind === 'lost') return endWithoutWorkspace(deps, { attempt, at }, placing)
  const once = tool?.effect === 'non_idempotent'
  const permits = permitCall(deps, at)
  const slow = placing.kind !== 'anywhere' || permits !== undefined || (tool && preparesSlowly(tool, deps.agent.hooks))
  // Without its tool nothing begins. A worker that has the tool must not find a call whose end is unknown.
  const preparing = !found || (once && Boolean(slow))
  const { profile, model } = at.facts.config
  const retries = { ...deps.agent.waitsOf(profile, model).tools, ...tool?.retries }
  const started = performance.now()
  const placed: PlacedCall = { attempt, at, tool, placing, permits, once, preparing, retries, started }
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> => settleCall(placed, claim, { end: { error } })

  const unknown = async (claim: Mine, stop: AbortSignal): Promise<Ending<ToolOutcome>> => {
    const verified = tool && (await findOut(deps, asItBegan(at, claim), { tool, stop, withinMs: attempt.withinMs }))
    if (verified?.happened)
      return settleCall(placed, claim, { end: { value: verified.result }, values: verified.values })
    // This attempt does not run the tool, because a part of its time is used up. When Temporal gave the attempt up, the
    // next attempt would run the tool a second time while it still runs here.
    if (verified) return { kind: 'reopen', result: { kind: 'due', gen: claim.gen }, writes: {} }
    if (stop.reason === 'shutdown') return { kind: 'retry', error: shutsDown(), failed: false, begun: true }
    if (tool?.onUnknownOutcome === 'ask' && !stop.aborted) return askPerson(asItBegan(at, claim), claim, UNKNOWN)
    return fail(claim, new StelloError('TOOL_OUTCOME_UNKNOWN', unknownText(call.name)))
  }
  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: { key: input.key, kind: 'tool', name: call.name, inputHash: at.hash, durable: once && !preparing, preparing },
    run: (claim, stop, hand) => runCall(deps, placed, { claim, stop, hand }),
    // A tool that is no longer listed may have been one that must not be repeated.
    ...((once || !found) && { unknown }),
    quarantined(claim) {
      if (found && !(once && claim.begun))
        return fail(claim, workerLost(call.name, claim, tool?.effect === 'idempotent' ? PERHAPS_DONE : ''))
      if (tool?.onUnknownOutcome === 'ask') return askPerson(asItBegan(at, claim), claim, UNKNOWN)
      return fail(claim, new StelloError('TOOL_OUTCOME_UNKNOWN', unknownText(call.name)))
    },
    callId: call.id,
    settled: (outcome) => countCall(deps.metrics, at, { outcome }),
    refused: (claim, message) =>
      fail(claim, new StelloError('TOOL_EXECUTION_ERROR', `the tool's result cannot be stored: ${message}`)),
  })
  if ('kind' in result) return result
  if ('outcome' in result) return result.outcome
  throw new Error(`tool step ${input.key} met an opening`)
}

const PERHAPS_DONE = 'It may have taken effect. '
