/** A call whose working folder is gone: it is not run again, because the folder that it was meant for is no more. */
import { StelloError } from '../../core/errors.ts'
import { newEvent } from '../../protocol/events.ts'
import type { ToolOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import type { Deps } from '../deps.ts'
import { withEvents, type Ending } from '../step/end-step.ts'
import { runStep } from '../step/run-step.ts'
import { countCall } from '../metrics.ts'
import { finish } from './finish.ts'
import type { Placing } from './place-call.ts'
import type { CallAttempt } from './call-at-hand.ts'

type Lost = Extract<Placing, { kind: 'lost' }>

export async function endWithoutWorkspace(deps: Deps, { attempt, at }: CallAttempt, lost: Lost): Promise<ToolOutcome> {
  const { input, call, chain, hash } = at
  const { turn, round } = input
  const end = (claim: Mine, effect: string): Ending<ToolOutcome> => {
    const error = new StelloError('TOOL_WORKSPACE_LOST', `${WHAT} ${effect} ${NEXT}`)
    const ending = finish({ input, claim, chain, durationMs: 0, end: { error }, workspace: lost.generation })
    const generation = lost.generation - 1
    const data = { workspaceId: lost.id, generation, turn, ...(lost.host !== undefined && { host: lost.host }) }
    return withEvents(ending, newEvent('workspace.lost', { of: [lost.id, generation], at: { turn, round }, data }))
  }
  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: { key: input.key, kind: 'tool', name: call.name, inputHash: hash, durable: false, preparing: true },
    run: async (claim) => end(claim, `"${call.name}" was not run.`),
    unknown: (claim) => end(claim, `"${call.name}" had begun there; whether it took effect outside is unknown.`),
    quarantined: (claim) => end(claim, ''),
    callId: call.id,
    settled: (outcome) => countCall(deps.metrics, at, { outcome, untimed: true }),
    refused: (claim) => end(claim, ''),
  })
  if ('kind' in result) return result
  if ('outcome' in result) return result.outcome
  throw new Error(`tool step ${input.key} met an opening`)
}

const WHAT = 'the host of the working folder is gone, with all files, changes and running shells in it.'
const NEXT = 'The next call gets a new folder on another host: look at what is there, and do again what is missing.'
