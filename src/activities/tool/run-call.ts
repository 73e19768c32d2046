/** Runs one tool call with the step in hand: prepare → execute → finish. Decides what each error leads to. */
import { StelloError, messageOf, toStelloError } from '../../core/errors.ts'
import { readRetryable } from '../../core/retryable-error.ts'
import type { NewEvent } from '../../protocol/events.ts'
import type { ToolOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import type { AgentsWaited } from '../../tool/call-agents.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Deps } from '../deps.ts'
import { withEvents, type Ending } from '../step/end-step.ts'
import { backoffOf, shutsDown } from '../step/temporal-failures.ts'
import type { Hand } from '../step/run-step.ts'
import { AgentsOfCall, type AwaitsAgents } from './agents-of-call.ts'
import { askPerson } from './ask-person.ts'
import { finish, type CallEnded } from './finish.ts'
import type { permitCall } from './permit-call.ts'
import { runPhases } from './phases.ts'
import { acquired, enterWorkspace, type Placing } from './place-call.ts'
import { asDecided, toExecution, type CallAttempt } from './call-at-hand.ts'
import { ToolChannel } from './tool-channel.ts'
import { ToolInstance } from './tool-instance.ts'
import { instanceId } from './kept-instances.ts'

/** A call, with all that is known of it before its step is taken. */
export interface PlacedCall extends CallAttempt {
  /** Unset: there is no tool of that name. */
  tool: Tool | undefined
  placing: Placing
  permits: ReturnType<typeof permitCall>
  /** The tool must not be repeated. */
  once: boolean
  /** The step counts as begun only when the tool itself begins. */
  preparing: boolean
  retries: { attempts: number; backoffMs: number }
  /** By `performance.now()`. */
  started: number
}

/** @param left the end of the call, and what it has left behind */
export function settleCall(
  call: PlacedCall,
  claim: Mine,
  left: Pick<CallEnded, 'end' | 'told' | 'values'>,
): Ending<ToolOutcome> {
  const { at, placing, started } = call
  const ending = finish({
    input: at.input,
    claim,
    chain: at.chain,
    durationMs: Math.round(performance.now() - started),
    ...left,
    ...(placing.kind === 'here' && { workspace: placing.generation }),
  })
  return withEvents(ending, ...acquired(placing, at.input))
}

export async function runCall(
  deps: Deps,
  placed: PlacedCall,
  { claim, stop, hand }: { claim: Mine; stop: AbortSignal; hand: Hand },
): Promise<Ending<ToolOutcome>> {
  const told: NewEvent[] = []
  return withEvents(await runOnce(deps, placed, { claim, stop, hand, told }), ...told)
}

async function runOnce(
  deps: Deps,
  call: PlacedCall,
  { claim, stop, hand, told }: { claim: Mine; stop: AbortSignal; hand: Hand; told: NewEvent[] },
): Promise<Ending<ToolOutcome>> {
  const { at, tool, once, retries } = call
  const { input } = at
  const live = deps.live.step(input.sessionId, input.key, claim.lease)
  const stage = { live, note: hand.note }
  let begun = !call.preparing
  const begin = async (): Promise<void> => {
    await hand.begin()
    begun = true
  }
  const use =
    deps.keptInstances.take(instanceId(claim.gen, input)) ?? new ToolInstance(new ToolChannel(input.call, stage))
  const { channel } = use
  channel.start(input.call, stage)
  const agents = new AgentsOfCall(deps, at, claim.decided?.waited as AgentsWaited[] | undefined)
  const permit = call.permits?.(claim, told)
  try {
    const workspace = await enterWorkspace(deps, call.placing, { stop, withinMs: call.attempt.withinMs })
    const placed = { ...at, ...(workspace && { workspace }) }
    const until = AbortSignal.any([stop, agents.over])
    const execution = { ...toExecution(deps, placed, { timeoutMs: tool?.timeoutMs, stop: until, channel }), agents }
    const phases = runPhases({
      ...deps,
      call: asDecided(at.call, claim.decided),
      tools: at.tools,
      use,
      execution,
      begin,
      answers: claim.decided?.answers ?? [],
      ...(permit && { permit }),
    })
    const end = await Promise.race([phases, agents.interrupted])
    if ('awaits' in end) return awaiting(claim, end)
    if ('asks' in end) return askPerson(at, claim, end.asks)
    return settleCall(call, claim, { end, told: channel, values: execution.values.changes() })
  } catch (error) {
    const retryable = readRetryable(error)
    if (stop.aborted && stop.reason !== 'cancel') return handOver(once && begun && !retryable)
    const known = toStelloError(error)
    if (known?.fate === 'model') return settleCall(call, claim, { end: { error: known }, told: channel })
    if ((retryable ?? !(once && begun)) && claim.failures + 1 < retries.attempts) {
      const delayMs = (failures: number): number => retryable?.afterMs ?? backoffOf(failures, retries)
      return { kind: 'retry', error, failed: true, delayMs }
    }
    const failed = new StelloError('TOOL_EXECUTION_ERROR', `tool "${at.call.name}" failed: ${messageOf(error)}`)
    return settleCall(call, claim, { end: { error: failed }, told: channel })
  } finally {
    deps.keptInstances.end(use)
    await live.end()
  }
}

/**
 * The worker shuts down. A step that may be repeated is given back; the next worker finds any other step begun, with an
 * unknown end.
 */
function handOver(lost: boolean): Ending<ToolOutcome> {
  return lost ? { kind: 'abandon', error: shutsDown() } : { kind: 'retry', error: shutsDown(), failed: false }
}

/** Nothing of the call counts until it runs to its end. Only the results of its waits for agents are kept. */
function awaiting({ gen, decided }: Mine, { awaits, found }: AwaitsAgents): Ending<ToolOutcome> {
  const kept = found.length > 0 && { decided: { ...decided, waited: found } }
  return { kind: 'reopen', result: { kind: 'awaits', gen, awaits }, writes: {}, ...kept, awaits: awaits.agents }
}
