/** A call whose activity is gone: Temporal's time-out ended it, or it was cancelled while its worker was dead. */
import { StelloError, type ToolErrorCode } from '../../core/errors.ts'
import type { Tool } from '../../tool/tool.ts'
import type { ToolOutcome } from '../../protocol/steps.ts'
import { PENDING } from '../../protocol/pending.ts'
import type { Forced } from '../../store/ledger/settle.ts'
import type { NewValue } from '../../store/transcript/values.ts'
import type { Deps } from '../deps.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import type { Ending } from '../step/end-step.ts'
import { asItBegan, type CallAttempt } from './call-at-hand.ts'
import { finish, type CallEnd } from './finish.ts'
import { mustNotRun, quarantine } from '../step/quarantine.ts'
import { UNKNOWN, askPerson, closing } from './ask-person.ts'
import { findOut, unknownText } from './unknown-outcome.ts'

/**
 * If the call had begun, its tool may know more than anybody else, and a person may be asked. But a turn that is being
 * stopped does not wait for a person. If it is stopped while the tool looks, it does not wait for the tool either.
 *
 * @returns undefined when nothing is known beyond how the call was lost
 */
export async function endLost(
  deps: Deps,
  { attempt, at }: CallAttempt,
  { forced, how }: { forced: Forced; how: 'cancelled' | 'timedOut' },
): Promise<Ending<ToolOutcome> | undefined> {
  const settle = (end: CallEnd, values?: NewValue[]): Ending<ToolOutcome> =>
    finish({ input: at.input, claim: forced, chain: at.chain, durationMs: 0, end, ...(values && { values }) })
  const fail = (code: ToolErrorCode, text: string): Ending<ToolOutcome> =>
    settle({ error: new StelloError(code, text) })

  if (forced.parked) {
    if (how === 'timedOut') return askPerson(at, forced, forced.parked)
    const { code, says } = PENDING[forced.parked.kind].stopped
    return closing(fail(code, says(forced.parked.name)), forced.parked, { decision: 'cancelled' })
  }
  const found = at.tools.find(at.call.name)
  const tool = found && 'tool' in found ? found.tool : undefined
  if (!forced.begun || tool?.effect !== 'non_idempotent') return undefined
  const begun = asItBegan(at, forced)
  if (mustNotRun(forced)) {
    const { name } = at.call
    const asks = tool.onUnknownOutcome === 'ask' && how === 'timedOut'
    const ending = asks
      ? askPerson<ToolOutcome>(begun, forced, UNKNOWN)
      : fail('TOOL_OUTCOME_UNKNOWN', unknownText(name))
    const { sessionId, key, turn, round } = at.input
    const { lease, deaths } = forced
    const step = { sessionId, key, kind: 'tool' as const, name, turn, round, callId: at.call.id, lease, deaths }
    return quarantine(deps, step, ending)
  }
  const stop = new AbortController()
  const { withinMs } = attempt
  const looking = findOut(deps, begun, { tool, stop: stop.signal, withinMs })
  const verified = await attempt.attend(looking, (why) => stop.abort(why))
  if (verified?.happened) return settle({ value: verified.result }, verified.values)
  if (verified && how === 'timedOut') return { kind: 'reopen', result: { kind: 'due', gen: forced.gen }, writes: {} }
  if (verified) return fail('TOOL_CANCELLED', notYet(tool))
  if (stop.signal.reason === 'shutdown') throw shutsDown()
  return tool.onUnknownOutcome === 'ask' && how === 'timedOut' && !stop.signal.aborted
    ? askPerson(begun, forced, UNKNOWN)
    : undefined
}

/** The call has begun, perhaps in a worker that still lives. Its lease is lost, but its code may go on. */
function notYet({ name }: Tool): string {
  return `"${name}" was cancelled; when its tool looked, it had not taken effect; if a worker still runs it, it may yet`
}
