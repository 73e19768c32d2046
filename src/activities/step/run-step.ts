/**
 * The ledger rule, in one place: claim the step, run it unless somebody else has run it or runs it now, settle it, and
 * return the outcome that won. This file knows nothing about models and tools.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/common'
import { setTimeout as delay } from 'node:timers/promises'
import { StelloError, isUnavailable } from '../../core/errors.ts'
import type { NotStarted, Waiting } from '../../protocol/steps.ts'
import { beginStep } from '../../store/ledger/begin.ts'
import { claimStep, type Claim, type ClaimRequest, type StepId, type Mine } from '../../store/ledger/claim.ts'
import { isAlive } from '../../store/ledger/liveness.ts'
import { releaseStep } from '../../store/ledger/settle.ts'
import type { Attempt } from './attempt.ts'
import type { StopWhy, InFlight } from './in-flight.ts'
import type { Deps } from '../deps.ts'
import { endStep, waitingOutcome, type Ending } from './end-step.ts'
import { shutsDown } from './temporal-failures.ts'
import { mustNotRun, quarantine, type Quarantined } from './quarantine.ts'

export interface StepWork<Outcome> {
  step: Omit<ClaimRequest, 'run' | 'owner' | 'token'>
  run(claim: Mine, stop: AbortSignal, hand: Hand): Promise<Ending<Outcome>>
  /** For steps that must not be repeated: decides what to do with one that a dead worker had begun. */
  unknown?(claim: Mine, stop: AbortSignal): Ending<Outcome> | Promise<Ending<Outcome>>
  /** Decides what happens to a step whose workers died too often. It must run no code of the user. */
  quarantined(claim: Mine): Ending<Outcome>
  /** Set for a tool call or a child that a model asked for: the id that people know it by. */
  callId?: string
  /** Called with the outcome if this attempt's outcome won, so once per step. */
  settled?(outcome: Outcome): void
  /**
   * Makes another ending when the store refuses the content, or a child: its id is taken, or there are too many
   * children.
   */
  refused(claim: Mine, message: string, error: unknown): Ending<Outcome>
}

/** The functions by which a running step controls itself. */
export interface Hand {
  /** Takes a detail that people may see in Temporal while the step runs. Each heartbeat carries the latest one. */
  note(detail: unknown): void
  /**
   * Marks a step that was claimed `preparing` as begun, or throws when it must not begin. If it throws, the step is
   * given back, and the ending that the work returns does not count. Does nothing for any other step.
   */
  begin(): Promise<void>
}

/** Duplicates are passed on. A step of any kind that waits for a person says so, whichever attempt parked it. */
export type StepResult<Outcome> =
  | { outcome: Outcome; gen: number }
  | { duplicate: true; gen: number }
  | Waiting
  | NotStarted

/** Wait between two looks at a step that another living worker runs. */
const WATCH_EVERY_MS = 250
/** Tries to get the answer to a claim, with `WATCH_EVERY_MS` in between. */
const CLAIM_TRIES = 40
/** Fewer tries while no claim was sent: another worker can take the step instead. */
const UNHELD_TRIES = 4
/** Others think that this worker is dead: they would take a step away while it runs here. */
const UNHELD = 'this worker has lost the connections that say it lives, and begins nothing until it has one again'

/**
 * The answer to an attempt that asks for a step: a claim that needs no waiting, or the attempt in this process that has
 * the step.
 */
type Obtained =
  | Exclude<Claim, { kind: 'mine' | 'busy' | 'mineAlready' | 'elsewhere' | 'lastChance' }>
  /** `leave`: frees the place of the step that runs alone (`last-chance.ts`). */
  | (Mine & { leave?: () => void })
  | { kind: 'inFlight'; gen: number; inFlight: InFlight }

export async function runStep<Outcome>(
  deps: Deps,
  attempt: Attempt,
  work: StepWork<Outcome>,
): Promise<StepResult<Outcome>> {
  const { key } = work.step
  const waiting = new AbortController()
  const claim = await attempt.attend(obtain(deps, attempt, { step: work.step, stop: waiting.signal }), (why) =>
    waiting.abort(why),
  )
  switch (claim.kind) {
    case 'inFlight':
      return resultOf((await join(attempt, claim.inFlight)) as Outcome | Waiting, claim.gen)
    case 'settled':
      deps.notify(attempt.run.sessionId)
      return { outcome: claim.outcome as Outcome, gen: claim.gen }
    case 'mine': {
      const stop = new AbortController()
      const noted: InFlight['noted'] = {}
      const here = id({ sessionId: attempt.run.sessionId, gen: claim.gen, key, lease: claim.lease })
      deps.stepWatch.begun(here, work.step.name)
      const ended = carryOut(deps, attempt, { work, claim, stop: stop.signal, noted }).finally(() => {
        deps.running.delete(here)
        deps.stepWatch.ended(here)
        claim.leave?.()
      })
      deps.running.set(here, { ended, stop, noted })
      return resultOf(await join(attempt, { ended, stop, noted }), claim.gen)
    }
    case 'duplicate':
      return { duplicate: true, gen: attempt.run.gen }
    case 'parked':
      return waitingOutcome(deps, claim.item, claim.gen)
    case 'paused':
      return { kind: 'notStarted' }
    case 'closed':
      return { kind: 'notStarted', closing: true }
    case 'stale':
      throw ApplicationFailure.nonRetryable('another run of this session has taken over', 'STALE_RUN')
  }
}

/** For work that never parks a step: its workflow would wait for nobody. @throws StelloError STORE_CORRUPT */
export function mustNotWait<Outcome>(result: StepResult<Outcome>): Exclude<StepResult<Outcome>, Waiting> {
  if (!isWaiting(result)) return result
  throw new StelloError('STORE_CORRUPT', `"${result.item.id}" waits for a person, and nobody was to be asked`)
}

function resultOf<Outcome>(ended: Outcome | Waiting, gen: number): StepResult<Outcome> {
  return isWaiting(ended) ? ended : { outcome: ended, gen }
}

function isWaiting(ended: unknown): ended is Waiting {
  return typeof ended === 'object' && ended !== null && 'kind' in ended && ended.kind === 'pending'
}

/** Waits while a living worker has the step. If the step may be taken only once more, waits until it can run alone. */
async function obtain(
  deps: Deps,
  attempt: Attempt,
  { step, stop }: { step: StepWork<unknown>['step']; stop: AbortSignal },
): Promise<Obtained> {
  const { db, running, lastChance } = deps
  let leave: (() => void) | undefined
  let met: number | undefined
  try {
    for (;;) {
      const claim = await claimUntilHeard(deps, attempt, { step: { ...step, alone: leave !== undefined }, stop })
      if (claim.kind === 'mine') {
        const taken = { ...claim, ...(leave && { leave }) }
        leave = undefined
        return taken
      }
      if (claim.kind === 'busy' || claim.kind === 'mineAlready') {
        const { gen, lease } = claim
        const held = { sessionId: attempt.run.sessionId, gen, key: step.key, lease }
        const inFlight = running.get(id(held))
        if (inFlight) return { kind: 'inFlight', gen, inFlight }
        if (claim.kind === 'mineAlready' || !(await isAlive(db, claim.owner))) {
          // The next claim decides whether anybody takes the step, and who: perhaps the session was paused or closed
          // meanwhile.
          await releaseStep(db, held, { failed: false, begun: true, died: claim.kind === 'busy' })
          continue
        }
      } else if (claim.kind === 'lastChance') {
        met ??= performance.now()
        if ((leave = lastChance.enter(performance.now() - met))) continue
      } else if (claim.kind !== 'elsewhere') return claim
      leave?.()
      leave = undefined
      await waitBeforeLooking(step.key, stop)
    }
  } finally {
    leave?.()
  }
}

/**
 * A claim may be granted although its answer gets lost. Only this attempt knows that it has begun nothing with that
 * claim. So it asks again, for as long as a restart of PostgreSQL takes. It makes no claim while nobody can see that
 * this worker lives.
 */
async function claimUntilHeard(
  { db, bootId, liveness }: Deps,
  attempt: Attempt,
  { step, stop }: { step: StepWork<unknown>['step']; stop: AbortSignal },
): Promise<Claim> {
  let asked = false
  for (let tried = 1; ; tried++) {
    const request = { ...step, run: attempt.run, owner: bootId, token: attempt.token, unheard: asked }
    try {
      if (!liveness.held()) throw new StelloError('STORE_UNAVAILABLE', UNHELD)
      asked = true
      return await claimStep(db, request)
    } catch (error) {
      if (!isUnavailable(error) || tried >= (asked ? CLAIM_TRIES : UNHELD_TRIES)) throw error
      await waitBeforeLooking(step.key, stop)
    }
  }
}

/** A stop ends the wait for another worker or for the store at once. The ledger then ends a cancelled step. */
async function waitBeforeLooking(key: string, stop: AbortSignal): Promise<void> {
  await delay(WATCH_EVERY_MS, undefined, { signal: stop }).catch(() => {
    if (stop.reason === 'cancel') throw new CancelledFailure(`cancelled before ${key} was taken`)
    throw shutsDown()
  })
}

function join<T>(attempt: Attempt, { ended, stop, noted }: InFlight & { ended: Promise<T> }): Promise<T> {
  return attempt.attend(
    ended,
    (why: StopWhy) => stop.abort(why),
    () => noted.latest,
  )
}

async function carryOut<Outcome>(
  deps: Deps,
  attempt: Attempt,
  { work, claim, stop, noted }: { work: StepWork<Outcome>; claim: Mine; stop: AbortSignal; noted: InFlight['noted'] },
): Promise<Outcome | Waiting> {
  const step = { sessionId: attempt.run.sessionId, gen: claim.gen, key: work.step.key, lease: claim.lease }
  let ending: Ending<Outcome>
  let refused: { error: unknown } | undefined
  const hand: Hand = {
    note: (detail) => void (noted.latest = detail),
    async begin() {
      if (!work.step.preparing) return
      try {
        if (!(await beginStep(deps.db, step))) throw new StelloError('STORE_UNAVAILABLE', notBegun(step.key))
      } catch (error) {
        refused = { error }
        throw error
      }
    },
  }
  try {
    if (mustNotRun(claim)) ending = quarantine(deps, named(attempt, work, claim), work.quarantined(claim))
    else ending = claim.begun && work.unknown ? await work.unknown(claim, stop) : await work.run(claim, stop, hand)
  } catch (error) {
    // Nobody knows how far it came: a step that must not be repeated stays begun.
    ending = { kind: 'retry', error, failed: false, begun: work.unknown !== undefined }
  }
  // Nothing has run, whether or not the mark was stored. The next claim decides what happens to the step.
  if (refused) ending = { kind: 'retry', error: refused.error, failed: false }
  if (ending.kind === 'retry' && ending.failed) deps.metrics.retried(work.step.kind)
  return endStep(deps, step, {
    ending,
    untilStored: attempt,
    settled: (outcome) => work.settled?.(outcome),
    refused: (message, error) => work.refused(claim, message, error),
  })
}

function notBegun(key: string): string {
  return `step ${key} does not begin: its session was paused or closed meanwhile, or another attempt has taken it`
}

function named<Outcome>(
  { run }: Attempt,
  { step: { key, kind, name }, callId }: StepWork<Outcome>,
  { lease, deaths }: Mine,
): Quarantined {
  const { sessionId, turn, place } = run
  return {
    sessionId,
    key,
    kind,
    name,
    turn,
    lease,
    deaths,
    ...(place.round !== undefined && { round: place.round }),
    ...(callId !== undefined && { callId }),
  }
}

function id({ sessionId, gen, key, lease }: StepId): string {
  return `${sessionId}/${gen}/${key}/${lease}`
}
