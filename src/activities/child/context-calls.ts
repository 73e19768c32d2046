/**
 * The model calls that a `contextFn` makes. Each is a step of the ledger: claimed, settled once, counted in usage. When the
 * function runs again, an answered question is not asked again. A model that is away is waited for like any other.
 */
import { waitsOfTry, waitsWith, type Waits } from '../../agent/wait-settings.ts'
import { StelloError, messageOf, reasonOf, toStelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { CompleteOptions, Completion, Model } from '../../core/model.ts'
import { toJson } from '../../core/to-json.ts'
import { contextKey, idempotencyKey } from '../../protocol/keys.ts'
import type { NotStarted, StepRef } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import type { Deps } from '../deps.ts'
import { askModel } from '../model/ask-model.ts'
import type { Pass } from '../model/gates.ts'
import { wholeTokens } from '../model/model-answer.ts'
import { choiceOf, pausingEndings, StepWeather, type Failed, type Held } from '../model/weather.ts'
import type { Attempt } from '../step/attempt.ts'
import type { Ending } from '../step/end-step.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import { runStep } from '../step/run-step.ts'

/** The step that opens the fork, and where it stands. */
export interface Opening {
  attempt: Attempt
  /** `key`: of the step that opens the fork. */
  at: Pick<StepRef, 'sessionId' | 'key' | 'turn' | 'tries'> & { round: number }
  /** The root of the session whose step it is. */
  rootId: string
}

interface Asked extends Opening {
  /** As profile and agent state them. */
  waits: Waits
  /** The user's cancel, the worker's shutdown, or the end of the function's time. */
  stop: AbortSignal
}

/** How the opening of the fork is given up for now: the function is run again, or the session pauses. */
export class Interrupted extends Error {
  readonly ending: Ending<NotStarted | Failed>

  constructor(ending: Ending<NotStarted | Failed>) {
    super('the function is interrupted while a model is asked')
    this.ending = ending
  }
}

/** Only `completed` is stored in the ledger. `refused`: the model has refused for good, and the function may handle that. */
type Answer = { kind: 'completed'; completion: Completion } | { kind: 'refused'; error: Error } | Failed

export class ContextCalls {
  /** Rejects with `Interrupted`, also if the function has caught that error. */
  readonly interrupted: Promise<never>
  readonly #deps: Deps
  readonly #asked: Asked
  /** How often each question was asked. */
  readonly #times = new Map<string, number>()
  #interrupt: (why: Interrupted) => void = () => undefined

  constructor(deps: Deps, asked: Asked) {
    this.#deps = deps
    this.#asked = asked
    this.interrupted = new Promise((_, reject) => (this.#interrupt = reject))
    this.interrupted.catch(() => undefined)
  }

  /** @throws StelloError of a refusal that no wait mends; `Interrupted` */
  async ask(model: Model, messages: Message[], options: CompleteOptions): Promise<Completion> {
    const answer = await this.#step(model, messages, options).catch((error: unknown) => {
      throw this.#stopping(error instanceof Interrupted ? error.ending : { kind: 'retry', error, failed: false })
    })
    switch (answer.kind) {
      case 'completed':
        return answer.completion
      case 'refused':
        throw answer.error
      case 'failed':
        throw this.#stopping({ kind: 'giveBack', result: answer })
    }
  }

  #stopping(ending: Interrupted['ending']): Interrupted {
    const why = new Interrupted(ending)
    this.#interrupt(why)
    return why
  }

  async #step(model: Model, messages: Message[], options: CompleteOptions): Promise<Answer> {
    const { attempt, at, rootId, waits: stated } = this.#asked
    const { sessionId, turn, round, tries } = at
    const { tools = [], onDelta } = options
    const hash = inputHash('context', model.name, toJson(messages), toJson(tools))
    const nth = this.#times.get(hash) ?? 0
    this.#times.set(hash, nth + 1)
    const key = contextKey(at.key, hash, nth)
    const own = waitsWith(stated, model)
    const waits = tries === undefined ? own : waitsOfTry(own, model)
    const weather = new StepWeather(this.#deps, attempt, {
      input: { key, turn, round },
      choice: choiceOf(model),
      waits,
    })
    const step = { sessionId, key, inputHash: hash }
    const told = { tools: [...tools], idempotencyKey: idempotencyKey(step), cacheKey: rootId }

    const run = async (claim: Mine, stop: AbortSignal, pass: Pass): Promise<Ending<Answer>> => {
      const started = performance.now()
      const over = AbortSignal.any([stop, this.#asked.stop])
      try {
        const limits = { stop: over, waits: pass.model === model ? waits : waitsWith(waits, pass.model) }
        const completion = await askModel(pass.model, messages, { ...told, ...limits, ...(onDelta && { onDelta }) })
        pass.served()
        const usage = wholeTokens(completion.usage)
        const by = completion.model ?? pass.model.name
        return {
          kind: 'settle',
          outcome: { kind: 'completed', completion },
          writes: { usage: { rootId, model: by, ...usage } },
        }
      } catch (error) {
        if (stop.aborted && stop.reason !== 'cancel') return { kind: 'retry', error: shutsDown(), failed: false }
        const known = toStelloError(error) ?? new StelloError('MODEL_UNAVAILABLE', messageOf(error))
        const final = known.fate !== 'retry' && reasonOf(known.code).clears === undefined
        if (!over.aborted && !final) return weather.failed(error, { pass, claim, askedMs: performance.now() - started })
        if (final) pass.served()
        return { kind: 'giveBack', result: { kind: 'refused', error: over.aborted ? new Error('stopped') : known } }
      }
    }
    const ran = await weather.pass<Answer>(rootId, (entered) =>
      runStep<Answer | Held>(this.#deps, attempt, {
        step: { key, kind: 'model', name: model.name, inputHash: hash, durable: false },
        run: async (claim, stop) =>
          entered ? weather.with(entered, claim, (pass) => run(claim, stop, pass)) : weather.held(claim),
        ...pausingEndings(model),
      }),
    )
    if ('kind' in ran) throw new Interrupted({ kind: 'giveBack', result: ran })
    if ('outcome' in ran) return ran.outcome
    throw new Error(`step ${key} met an opening`)
  }
}
