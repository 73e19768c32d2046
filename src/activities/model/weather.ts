/**
 * A model call in any weather. A provider that is away is waited for: a moment here, in line before its gate, and for
 * longer in Temporal, so that nobody holds a slot of the worker meanwhile. Only weather beyond `retryFor`, and errors that no
 * wait can mend, pause the session.
 */
import { CancelledFailure } from '@temporalio/common'
import type { Waits } from '../../agent/wait-settings.ts'
import { durationText } from '../../core/duration.ts'
import { messageOf, StelloError, toStelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import type { Model } from '../../core/model.ts'
import { toPause } from '../../core/pause.ts'
import { newEvent } from '../../protocol/events.ts'
import { IN_LINE_MS } from '../../protocol/limits.ts'
import { weatherSignal } from '../../protocol/temporal-messages.ts'
import type { CallModelInput, ModelOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import type { Weather } from '../../store/ledger/settle.ts'
import type { Attempt } from '../step/attempt.ts'
import type { Deps } from '../deps.ts'
import type { Ending } from '../step/end-step.ts'
import { backoffOf, shutsDown, tryAgain } from '../step/temporal-failures.ts'
import { killsWorkers } from '../step/quarantine.ts'
import { mustNotWait, type StepResult } from '../step/run-step.ts'
import { isOverTime } from './ask-model.ts'
import { waitAfter, type Refusal } from './gate.ts'
import { providerOf, type Choice, type HeldUp, type Pass } from './gates.ts'

/** Attempts at work that fails for a reason that is no weather, before the session pauses. */
const OTHER_ATTEMPTS = 6
/** How many attempts pause the session if the last one has used up the whole time of a call. */
const OVER_TIME_ATTEMPTS = 2
/** People are told of a wait that is at least this long. */
const TOLD_AFTER_MS = 5000
/**
 * A session that has left the line comes back at most this long before the gate opens, at a random time, and stands in
 * line again.
 */
const EARLY_MS = 5000
/** The shortest wait outside. */
const AT_ONCE_MS = 100
const WHY_LIMIT = 120

/** The model was not asked: the step was given back until the weather is better. */
export interface Held {
  kind: 'held'
}

/** The weather or the model pauses the session. */
export type Failed = Extract<ModelOutcome, { kind: 'failed' }>
type Ran<Outcome> = ReturnType<typeof mustNotWait<Outcome>>

/** The models that may answer; one of them does. */
export function choiceOf(model: Model): Choice {
  return model.fallback ?? { models: [model], afterMs: Infinity }
}

/** A step that asks a model. */
interface AskingStep {
  input: Pick<CallModelInput, 'key' | 'turn' | 'round'>
  choice: Choice
  waits: Waits
}

/** What the weather does to one step. */
export class StepWeather {
  readonly #deps: Deps
  readonly #attempt: Attempt
  readonly #input: AskingStep['input']
  readonly #choice: Choice
  readonly #waits: Waits

  constructor(deps: Deps, attempt: Attempt, { input, choice, waits }: AskingStep) {
    this.#waits = waits
    this.#deps = deps
    this.#attempt = attempt
    this.#input = input
    this.#choice = choice
  }

  /**
   * Asks as soon as a gate lets this session through. The step is not held meanwhile: a worker that dies while it waits
   * has not killed anything. But it is looked at first, so that the message that opens a turn is in the transcript, and a
   * session that was closed or paused does not wait.
   *
   * @param root of the session
   * @param ask takes the step and asks, or only looks at it and gives it back
   * @throws the error that makes Temporal try again after the wait
   */
  async pass<Outcome extends { kind: string }>(
    root: string,
    ask: (pass: Pass | undefined) => Promise<StepResult<Outcome | Held>>,
  ): Promise<Ran<Outcome>> {
    const { gates } = this.#deps
    const until = performance.now() + IN_LINE_MS
    let pass = gates.enter(this.#choice)
    for (;;) {
      try {
        const ran = mustNotWait(await ask(pass))
        if (!isHeld(ran)) return ran as Ran<Outcome>
      } finally {
        pass?.leave()
      }
      pass = await this.#standInLine(root, until)
    }
  }

  /** Gives a step back that only waits, with the text that people see meanwhile. */
  held(claim: Mine): Ending<Failed | Held> {
    const held = this.#deps.gates.heldUp(this.#choice)
    const kind = 'hold'
    const result: Held = { kind: 'held' }
    if (!held) return { kind, result }
    const leftMs = this.#leftMs(claim, 0)
    if (leftMs <= 0 || held.nextTryMs > leftMs) return pausing(awayFor(held, claim.weather?.forMs ?? 0, leftMs))
    return { kind, result, ...this.#shown(claim, 0, held) }
  }

  /** Asks with the pass that counts, and gives it up whatever happens. @param pass the one to enter with */
  async with<Outcome>(pass: Pass, claim: Mine, ask: (pass: Pass) => Promise<Outcome>): Promise<Outcome> {
    const counting = this.#instead(pass, claim)
    try {
      return await ask(counting)
    } finally {
      counting.leave()
    }
  }

  /** The pass that counts. It passes over a model that has failed this very step for too long, even if other steps still ask it. */
  #instead(pass: Pass, { weather, failures }: Mine): Pass {
    const { models, afterMs } = this.#choice
    const mine = providerOf(pass.model)
    if (failures === 0 || !weather || weather.provider !== mine || weather.forMs < afterMs) return pass
    const behind = models.slice(models.indexOf(pass.model) + 1).filter((model) => providerOf(model) !== mine)
    const other = behind.length > 0 ? this.#deps.gates.enter({ models: behind, afterMs }) : undefined
    if (other) pass.leave()
    return other ?? pass
  }

  /** The ending that an error leads to. @param asked.askedMs how long ago the step was taken */
  failed(error: unknown, { pass, claim, askedMs }: { pass: Pass; claim: Mine; askedMs: number }): Ending<Failed> {
    const known = toStelloError(error) ?? new StelloError('MODEL_UNAVAILABLE', messageOf(error))
    const refusal = isWeather(error, known) ? refusalOf(known) : undefined
    if (refusal) {
      pass.refused(refusal)
      return this.#waitOut(known, claim, { refusal, asked: pass.model, askedMs, overTime: isOverTime(error) })
    }
    if (known.code === 'MODEL_NO_CREDIT') {
      pass.spent()
      if (this.#choice.models.length > 1 && this.#deps.gates.hasCredit(this.#choice)) {
        return this.#waitOut(known, claim, { refusal: { why: 'no credit', told: true }, asked: pass.model, askedMs })
      }
    } else if (known.fate === 'pause') pass.served()
    else pass.leave()
    const { model } = this.#waits
    if (known.fate !== 'retry' || claim.failures + 1 >= Math.min(OTHER_ATTEMPTS, model.attempts)) return pausing(known)
    return { kind: 'retry', error: known, failed: true, delayMs: (failures) => backoffOf(failures, model) }
  }

  #waitOut(
    known: StelloError,
    claim: Mine,
    {
      refusal,
      asked,
      askedMs,
      overTime = false,
    }: { refusal: Refusal; asked: Model; askedMs: number; overTime?: boolean },
  ): Ending<Failed> {
    const { gates } = this.#deps
    const leftMs = this.#leftMs(claim, askedMs)
    if (refusal.waitMs !== undefined && refusal.waitMs > leftMs)
      return pausing(tooLongAWait(known, refusal.waitMs, leftMs))
    const attempts = Math.min(this.#waits.model.attempts, overTime ? OVER_TIME_ATTEMPTS : Infinity)
    if (leftMs <= 0 || claim.failures + 1 >= attempts) return pausing(known)
    const held = gates.heldUp(this.#choice)
    const elsewhere = !held && (refusal.why === 'no credit' || gates.isAway(asked))
    const nextTryMs =
      held?.nextTryMs ?? (elsewhere ? 0 : waitAfter(claim.failures + 1, { firstMs: this.#waits.model.backoffMs }))
    const waits = {
      provider: held?.provider ?? providerOf(asked),
      why: refusal.why,
      nextTryMs: Math.min(nextTryMs, leftMs),
    }
    const early = held ? EARLY_MS : 0
    return {
      kind: 'retry',
      error: saying(known, waits),
      failed: true,
      delayMs: () => comeBackMs(waits.nextTryMs, early),
      ...this.#shown(claim, askedMs, waits),
    }
  }

  /** How much longer the weather may be waited out, milliseconds. */
  #leftMs({ weather }: Mine, askedMs: number): number {
    return this.#waits.retryForMs - (weather ? weather.forMs + askedMs : 0)
  }

  /** @returns undefined when the wait here is over by a stop of the worker */
  async #standInLine(root: string, until: number): Promise<Pass | undefined> {
    const { gates } = this.#deps
    const choice = this.#choice
    const leave = (): Error => {
      const held = gates.heldUp(choice)
      return tryAgain(waiting(held), comeBackMs(held?.nextTryMs ?? 0, EARLY_MS))
    }
    const withinMs = until - performance.now()
    const held = gates.heldUp(choice)
    if (withinMs <= 0 || (held && held.nextTryMs > withinMs)) throw leave()
    const stop = new AbortController()
    this.#attempt.note(waiting(held).message)
    const standing = gates.wait(choice, root, { withinMs, stop: stop.signal })
    const pass = await this.#attempt.attend(standing, (why) => stop.abort(why))
    this.#attempt.note(undefined)
    if (pass) return pass
    if (stop.signal.reason === 'cancel') throw new CancelledFailure('cancelled before the model was asked')
    throw stop.signal.aborted ? shutsDown() : leave()
  }

  /** What people see while the step waits. The event is told once in an outage, and only of a long wait. */
  #shown(
    claim: Mine,
    askedMs: number,
    { provider, why, nextTryMs }: HeldUp,
  ): { weather: Weather; writes?: { events: ReturnType<typeof newEvent<'model.waiting'>>[] } } {
    const forMs = claim.weather ? claim.weather.forMs + askedMs : 0
    const before = claim.weather?.told ?? false
    const tells = !before && forMs + nextTryMs >= TOLD_AFTER_MS
    const weather: Weather = { provider, why, nextTryMs, told: before || tells }
    if (!tells) return { weather }
    const { key, turn, round } = this.#input
    void this.#tellWorkflow({ provider, why, forMs })
    const data = { turn, round, provider, why, nextTryMs: Math.round(nextTryMs) }
    return {
      weather,
      writes: { events: [newEvent('model.waiting', { of: [key, claim.lease], at: { turn, round }, data })] },
    }
  }

  /** For the details in the Temporal UI. If it is lost, they only lack a line. */
  async #tellWorkflow({ provider, why, forMs }: { provider: string; why: string; forMs: number }): Promise<void> {
    const { turn, round } = this.#input
    const { sessionId, runId } = this.#attempt.run
    const since = new Date(Date.now() - forMs).toISOString()
    try {
      await this.#deps.client.workflow
        .getHandle(sessionId, runId)
        .signal(weatherSignal, { turn, round, provider, why, since })
    } catch {
      // The step waits all the same.
    }
  }
}

function isHeld(ran: Ran<{ kind: string }>): ran is { outcome: Held; gen: number } {
  return 'outcome' in ran && ran.outcome.kind === 'held'
}

/** Errors that pass when the provider is well again. An error without a code counts, unless it looks like a bug. */
function isWeather(error: unknown, { code }: StelloError): boolean {
  if (code !== 'MODEL_UNAVAILABLE' && code !== 'MODEL_RATE_LIMITED') return false
  return toStelloError(error) !== undefined || !isBug(error)
}

/** `fetch` throws a TypeError too, but with the cause. */
function isBug(error: unknown): boolean {
  const builtIn = [TypeError, ReferenceError, RangeError, SyntaxError].some((kind) => error instanceof kind)
  return builtIn && (error as Error).cause === undefined
}

function refusalOf({ code, status, message, retryAfterMs }: StelloError): Refusal {
  const limited = code === 'MODEL_RATE_LIMITED'
  return {
    why: status !== undefined ? String(status) : limited ? 'rate limited' : preview(message, WHY_LIMIT),
    told: limited || status === 503 || status === 529,
    ...(retryAfterMs !== undefined && { waitMs: retryAfterMs }),
  }
}

/** How the step of a model call ends that kills its workers, or whose answer the store refuses: the session pauses. */
export function pausingEndings({ name }: Model): {
  quarantined(claim: Mine): Ending<Failed>
  refused(claim: Mine, message: string): Ending<Failed>
} {
  return {
    quarantined: ({ deaths }) => pausing(killsWorkers(`model ${name} was asked`, deaths)),
    refused: (_claim, message) => pausing(new StelloError('STORE_CORRUPT', `the store refuses the answer: ${message}`)),
  }
}

function pausing(error: StelloError): Extract<Ending<Failed>, { kind: 'giveBack' }> {
  return { kind: 'giveBack', result: { kind: 'failed', pause: toPause(error) } }
}

/** If the model asks for a wait that is too long, people are told at once and not after the wait. */
function tooLongAWait({ code, message }: StelloError, waitMs: number, leftMs: number): StelloError {
  const asked = `it asks to wait ${durationText(waitMs)}, and retryFor leaves ${durationText(Math.max(0, leftMs))}`
  return new StelloError(code, `${message} (${asked})`, { hint: 'resume the session when the model answers again' })
}

/** The session has not asked itself: others were refused. */
function awayFor({ provider, why, nextTryMs }: HeldUp, forMs: number, leftMs: number): StelloError {
  const text =
    leftMs <= 0
      ? `${provider} has been away for ${durationText(forMs)}: ${why}`
      : `${provider} (${why}) asks to wait ${durationText(nextTryMs)}, and retryFor leaves ${durationText(leftMs)}`
  return new StelloError('MODEL_UNAVAILABLE', text, { hint: 'resume the session when the model answers again' })
}

/** The text that Temporal shows while the session waits outside. */
function waiting(held: HeldUp | undefined): StelloError {
  return new StelloError('MODEL_UNAVAILABLE', held ? heldUpText(held) : 'waits its turn to ask the model')
}

function saying(known: StelloError, held: HeldUp): StelloError {
  return new StelloError(known.code, `${heldUpText(held)} (${known.message})`)
}

/** @example 'waits for openai: 429, next try 14:32:10 UTC' */
function heldUpText({ provider, why, nextTryMs }: HeldUp): string {
  const at = new Date(Date.now() + nextTryMs).toISOString().slice(11, 19)
  return `waits for ${provider}: ${why}, next try ${at} UTC`
}

function comeBackMs(nextTryMs: number, earlyMs: number): number {
  return Math.max(AT_ONCE_MS, Math.round(nextTryMs - Math.random() * earlyMs))
}
