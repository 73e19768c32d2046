/** Steps whose workers died too often (durability 3): their endings, and the texts for people and the model. */
import { StelloError } from '../../core/errors.ts'
import { newEvent } from '../../protocol/events.ts'
import { TAKERS, type ClaimRequest, type Mine } from '../../store/ledger/claim.ts'
import type { Deps } from '../deps.ts'
import { withEvents, type Ending } from './end-step.ts'

export interface Quarantined {
  sessionId: string
  key: string
  kind: ClaimRequest['kind']
  name: string
  turn: number
  round?: number
  /** Set for a call that a model asked for. */
  callId?: string
  lease: number
  deaths: number
}

/** A parked step never gets here: nobody takes it, and its question stays as it is. */
export function mustNotRun({ deaths }: Pick<Mine, 'deaths'>): boolean {
  return deaths >= TAKERS
}

/**
 * Ends the step with `ending` instead of running it, and tells people. They are told each time, because a resume runs
 * the step again.
 */
export function quarantine<Outcome>(
  deps: Deps,
  { sessionId, round, lease, ...step }: Quarantined,
  ending: Ending<Outcome>,
): Ending<Outcome> {
  const { key, kind, name, turn, deaths } = step
  deps.log.warn(`session ${sessionId}: step ${key} (${name}) is not run again: ${timesDied(deaths)} while it ran`)
  deps.metrics.quarantined(kind)
  const at = { turn, ...(round !== undefined && { round }) }
  return withEvents(ending, newEvent('step.quarantined', { of: [key, lease], at, data: step }))
}

export function timesDied(deaths: number): string {
  return `its worker died ${deaths} times`
}

/** For calls that may be repeated. @param effect what the model must know about effects so far */
export function workerLost(name: string, { deaths }: Mine, effect = ''): StelloError {
  const text = `${timesDied(deaths)} while "${name}" ran, so it is not run again. ${effect}Try another way: other arguments, or another tool.`
  return new StelloError('TOOL_WORKER_LOST', text)
}

/** For trouble that only a person can repair: the error pauses the session. @param meanwhile completes "while …" */
export function killsWorkers(meanwhile: string, deaths: number): StelloError {
  return new StelloError('INVALID_AGENT', `${timesDied(deaths)} while ${meanwhile}, so this is not tried again`, {
    hint:
      'look at what the workers wrote to standard error before they ended: out of memory, or code of the agent that ' +
      'blocks or crashes its process; mend it, then resume',
  })
}
