/**
 * Ends a step in the ledger: it is settled, given back, parked or reopened. An ending that is known only in this
 * process is kept until the store takes it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { StelloError, isStelloError, isUnavailable, messageOf, type ErrorCode } from '../../core/errors.ts'
import type { NewEvent } from '../../protocol/events.ts'
import type { PendingRef, Question } from '../../protocol/pending.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import type { Waiting } from '../../protocol/steps.ts'
import type { StepId } from '../../store/ledger/claim.ts'
import { isDataError } from '../../store/database/database.ts'
import { parkStep, reopenStep, timeLeft } from '../../store/ledger/parked.ts'
import { readOutcome, releaseStep, settleStep, type Weather } from '../../store/ledger/settle.ts'
import type { Writes } from '../../store/ledger/writes.ts'
import type { Attempt } from './attempt.ts'
import type { Deps } from '../deps.ts'
import { explained, shutsDown, tryAgain } from './temporal-failures.ts'

const SETTLE_RETRY_MS = 250
/**
 * Why the store refuses a child: another session has its id, a bound of its tree is reached, or its parent is being
 * closed.
 */
const REFUSED_CHILD: ReadonlySet<ErrorCode> = new Set(['SESSION_EXISTS', 'TREE_LIMIT', 'SESSION_CLOSED'])
/** Tries between two warnings. They take a minute. */
const WARN_EVERY = 240

/** How a step's work ended. */
export type Ending<Outcome> =
  /** It has an outcome: commit it together with everything that follows from it. */
  | { kind: 'settle'; outcome: Outcome; writes: Writes }
  /** It has no outcome: give the step back and tell the workflow. */
  | { kind: 'giveBack'; result: Outcome; writes?: Writes }
  /** It has no outcome: give the step back until the weather is better. This attempt may take it again. */
  | { kind: 'hold'; result: Outcome; weather?: Weather; writes?: Pick<Writes, 'events'> }
  /** It has no outcome: a person must answer first. Nobody holds the step until then, or until the time for that is over. */
  | { kind: 'park'; question: Question; expiresInMs?: number; writes?: Pick<Writes, 'events'> }
  /** It has no outcome: nothing was done, and the step may begin. `decided` is kept for the attempt that begins it; until then it is shown as waiting if it `waits`. */
  | { kind: 'reopen'; result: Outcome; writes: Writes; decided?: Decided; awaits?: readonly string[] }
  /**
   * It has no outcome: give the step back and let Temporal try again. `failed` counts it as a failed attempt at the
   * model or tool. `begun` keeps the mark that the step has begun, so its end stays unknown. `weather`: what people see
   * meanwhile.
   */
  | {
      kind: 'retry'
      error: unknown
      failed: boolean
      begun?: boolean
      delayMs?: (failures: number) => number
      weather?: Weather
      writes?: Pick<Writes, 'events'>
    }
  /** It has no outcome, and the step is not given back: the worker that finds it begun by a dead worker decides. */
  | { kind: 'abandon'; error: unknown }

/** Adds events before those that the ending commits. */
export function withEvents<Outcome>(ending: Ending<Outcome>, ...events: NewEvent[]): Ending<Outcome> {
  if (ending.kind === 'retry' || ending.kind === 'abandon') return ending
  return { ...ending, writes: { ...ending.writes, events: [...events, ...(ending.writes?.events ?? [])] } }
}

interface Finishing<Outcome, End = Ending<Outcome>> {
  ending: End
  /**
   * Set: the ending is known only in this process, so it is kept until the store takes it. Temporal is told why the
   * step still waits. Unset: another attempt can propose the ending again, so this attempt does not wait for the store.
   */
  untilStored?: Pick<Attempt, 'note'>
  settled?(outcome: Outcome): void
  /** Makes another ending when the store refuses the content. Unset: that other ending was refused too. */
  refused?(message: string, error: unknown): Ending<Outcome>
}

export async function endStep<Outcome>(
  deps: Deps,
  step: StepId,
  finishing: Finishing<Outcome>,
): Promise<Outcome | Waiting> {
  const { ending, untilStored } = finishing
  switch (ending.kind) {
    case 'settle':
      return settle(deps, step, { ...finishing, ending })
    case 'giveBack':
    case 'hold': {
      const { result, writes } = ending
      const how = ending.kind === 'giveBack' ? { reset: true } : ending.weather && { weather: ending.weather }
      const giving = { failed: false, ...how, ...(writes && { writes }) }
      await stored(deps, { step, untilStored }, () => releaseStep(deps.db, step, giving))
      if (writes) deps.notify(step.sessionId)
      return result
    }
    case 'park': {
      const item = await stored(deps, { step, untilStored }, () => parkStep(deps.db, step, ending))
      deps.notify(step.sessionId)
      return item
        ? waitingOutcome(deps, item, step.gen)
        : (otherOutcome(step, await readOutcome(deps.db, step)) as Outcome)
    }
    case 'reopen': {
      const done = await stored(deps, { step, untilStored }, () => reopenStep(deps.db, step, ending))
      deps.notify(step.sessionId)
      return done ? ending.result : (otherOutcome(step, await readOutcome(deps.db, step)) as Outcome)
    }
    case 'abandon':
      throw ending.error
    case 'retry': {
      const { failed, begun = false, weather, writes } = ending
      const giving = { failed, begun, ...(weather && { weather }), ...(writes && { writes }) }
      const failures = await stored(deps, { step, untilStored }, () => releaseStep(deps.db, step, giving))
      if (writes) deps.notify(step.sessionId)
      if (!ending.delayMs) throw ending.error
      throw tryAgain(ending.error, ending.delayMs(failures))
    }
  }
}

async function settle<Outcome>(
  deps: Deps,
  step: StepId,
  { ending, refused, ...told }: Finishing<Outcome, Extract<Ending<Outcome>, { kind: 'settle' }>>,
): Promise<Outcome | Waiting> {
  const { outcome, writes } = ending
  const { untilStored } = told
  try {
    const settled = await stored(deps, { step, untilStored }, () => settleStep(deps.db, step, ending))
    deps.notify(step.sessionId, writes.turns || writes.pause || writes.closed ? 'decision' : 'progress')
    if (!settled.won) return otherOutcome(step, settled.outcome) as Outcome
    told.settled?.(outcome)
    if (writes.records) deps.transcripts.append(step.sessionId, step.gen, writes.records)
    return outcome
  } catch (error) {
    if (!isRefused(error)) throw error
    if (refused) return endStep(deps, step, { ...told, ending: refused(messageOf(error), error) })
    // Otherwise all others would wait for this worker, although it no longer works on the step.
    await stored(deps, { step, untilStored }, () => releaseStep(deps.db, step, { failed: false, begun: true }))
    throw new StelloError('STORE_CORRUPT', `the store refuses how step ${step.key} ended: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** True if another try cannot help: the store refuses the content or the child. */
function isRefused(error: unknown): boolean {
  return isDataError(error) || (isStelloError(error) && REFUSED_CHILD.has(error.code))
}

async function stored<T>(
  deps: Deps,
  { step, untilStored }: { step: StepId; untilStored: Finishing<never>['untilStored'] },
  store: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await store()
    } catch (error) {
      if (!untilStored || !isUnavailable(error) || deps.db.pool.ended) throw error
      if (deps.stopping.aborted) throw lost(deps, step, error)
      const why = `step ${step.key} has ended and is tried to be stored until it succeeds: ${explained(error)}`
      untilStored.note(why)
      if (tried % WARN_EVERY === 1) deps.log.warn(`session ${step.sessionId}: ${why}`)
      await delay(SETTLE_RETRY_MS, undefined, { signal: deps.stopping }).catch(() => undefined)
    }
  }
}

/**
 * A stopping worker waits for the store no longer than it waits for running steps. The ending is then lost, as if the
 * worker had been killed.
 */
function lost(deps: Deps, { key, sessionId }: StepId, error: StelloError): Error {
  deps.log.warn(`session ${sessionId}: the worker stops, and how step ${key} ended is lost: ${explained(error)}`)
  return shutsDown({ cause: error })
}

/**
 * The workflow learns this about a step that waits for a person. The time that is left is measured by one clock, the
 * store's, so it holds for a timer of Temporal too, whatever the time is there.
 */
export async function waitingOutcome(
  { agent, db }: Pick<Deps, 'agent' | 'db'>,
  { id, kind, expiresAt }: PendingRef,
  gen: number,
): Promise<Waiting> {
  const tell = agent.onPending && { tell: true as const }
  if (expiresAt === undefined) return { kind: 'pending', gen, item: { id, kind, ...tell } }
  return { kind: 'pending', gen, item: { id, kind, expiresAt, ...tell }, leftMs: await timeLeft(db, expiresAt) }
}

function otherOutcome(step: StepId, outcome: unknown): unknown {
  if (outcome === undefined) throw new Error(`step ${step.key} was taken over by another attempt`)
  return outcome
}
