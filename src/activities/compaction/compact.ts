/**
 * Makes a conversation shorter for its model: a summary stands for older records from then on. One step of the ledger, so
 * that a summary is paid once, even if workers die. The records stay.
 */
import { DEFAULT_COMPACTION } from '../../agent/compaction-settings.ts'
import { waitsOfTry, waitsWith } from '../../agent/wait-settings.ts'
import { messageOf, StelloError, toStelloError } from '../../core/errors.ts'
import { idempotencyKey } from '../../protocol/keys.ts'
import type { CompactInput, CompactOutcome } from '../../protocol/steps.ts'
import type { Mine } from '../../store/ledger/claim.ts'
import { inputHash } from '../../store/ledger/hashes.ts'
import { proposeOutcome } from '../../store/ledger/settle.ts'
import type { Deps } from '../deps.ts'
import { providerOf, type Pass } from '../model/gates.ts'
import { textTokens } from '../model/token-estimate.ts'
import { choiceOf, StepWeather, type Held } from '../model/weather.ts'
import { currentAttempt } from '../step/attempt.ts'
import { awaitHolder } from '../step/await-holder.ts'
import type { Ending } from '../step/end-step.ts'
import { shutsDown } from '../step/temporal-failures.ts'
import { runStep } from '../step/run-step.ts'
import {
  ended,
  isEnough,
  LEAST_TOKENS,
  leftOut,
  summarised,
  toCompacting,
  tokensOf,
  type Compacting,
} from './compacting.ts'
import { planCompaction, type Plan } from './plan.ts'
import { NoSummary, readTooMuch, summarise, type Summarised } from './summarise.ts'

/** Tries with half as much to read each, if the model that summarises refuses it as too long. */
const HALVINGS = 4
/** How long a provider that only summarises is waited for. The session's own is waited for as in every model call. */
const OTHER_PROVIDER_MS = 5 * 60_000

export async function compact(deps: Deps, input: CompactInput): Promise<CompactOutcome> {
  const attempt = currentAttempt(deps, input)
  const { sessionId, key, gen, upTo, refusals, turn, round = 0 } = input
  const { config, rootId } = await deps.configs.read(deps.db, sessionId)
  // Another worker, or another fork of the same parent, may have made a summary meanwhile.
  deps.transcripts.forget(sessionId)
  const transcript = await deps.transcripts.read(deps.db, { sessionId, gen, seq: upTo })
  const compaction = deps.agent.compactionOf(config.profile) ?? DEFAULT_COMPACTION
  const own = deps.agent.model(config.model)
  const { model = own } = compaction
  const compacting = toCompacting({ input, rootId, transcript, compaction, own, model })
  // Earlier summaries are no part of the hash, so the step stays the same step when it is tried again.
  const hash = inputHash('compact', transcript.chain, refusals)
  const sameProvider = providerOf(model) === providerOf(own)
  const stated = waitsWith(deps.agent.waitsOf(config.profile, config.model), model)
  const patient = input.tries === undefined ? stated : waitsOfTry(stated, model)
  const retryForMs = Math.min(patient.retryForMs, sameProvider ? Infinity : OTHER_PROVIDER_MS)
  const waits = { ...patient, retryForMs }
  const weather = new StepWeather(deps, attempt, { input: { key, turn, round }, choice: choiceOf(model), waits })

  async function run(claim: Mine, stop: AbortSignal, pass: Pass): Promise<Ending<CompactOutcome>> {
    const started = performance.now()
    if (isEnough(compacting)) return ended(claim, true)
    try {
      const step = { sessionId, key, inputHash: hash }
      const asked = { cacheKey: rootId, idempotencyKey: idempotencyKey(step), stop, waits }
      const made = await makeSummary({ ...compacting, model: pass.model }, asked)
      if (!made) return ended(claim, false)
      pass.served()
      deps.metrics.compacted(made.by, made.usage, performance.now() - started)
      return summarised(compacting, claim, made)
    } catch (error) {
      if (stop.aborted) return stopped(claim, stop)
      if (error instanceof NoSummary) pass.served()
      const ending =
        error instanceof NoSummary
          ? undefined
          : weather.failed(error, { pass, claim, askedMs: performance.now() - started })
      return ending && ending.kind !== 'giveBack' ? ending : without(claim, error, ending)
    }
  }

  /** The session's own provider is waited for: its next call would not be answered either. */
  function without(claim: Mine, error: unknown, ending?: Ending<CompactOutcome>): Ending<CompactOutcome> {
    const isWeather = !(error instanceof NoSummary) && (toStelloError(error)?.fate ?? 'retry') === 'retry'
    if (sameProvider && isWeather && ending?.kind === 'giveBack') {
      return { kind: 'settle', outcome: ending.result, writes: ending.writes ?? {} }
    }
    deps.log.warn(`session ${sessionId}: its older messages cannot be summarised: ${messageOf(error)}`)
    return leftOut(compacting, claim, error)
  }

  const result = await weather.pass(rootId, (entered) =>
    runStep<CompactOutcome | Held>(deps, attempt, {
      step: { key, kind: 'model', name: model.name, inputHash: hash, durable: false },
      async run(claim, stop) {
        if (!entered) {
          const held = weather.held(claim)
          return held.kind === 'giveBack' ? without(claim, AWAY, held as Ending<CompactOutcome>) : held
        }
        return weather.with(entered, claim, (pass) => run(claim, stop, pass))
      },
      quarantined: (claim) => leftOut(compacting, claim),
      refused(_claim, message) {
        throw new StelloError('STORE_CORRUPT', `the store refuses the summary: ${message}`)
      },
    }),
  )
  deps.transcripts.forget(sessionId)
  if ('kind' in result) return result
  if (!('outcome' in result)) throw new Error(`compaction ${key} met an opening`)
  return result.outcome
}

const AWAY = new StelloError('MODEL_UNAVAILABLE', 'its model has been away for too long')

/** Ends a compaction whose activity ended without an outcome: the ledger decides, this proposes. */
export async function settleCompaction(deps: Deps, input: CompactInput): Promise<CompactOutcome> {
  const attempt = currentAttempt(deps, input)
  await awaitHolder(deps, attempt, input.key)
  const proposing = { run: attempt.run, key: input.key, kind: 'model', name: 'compaction' }
  return proposeOutcome<CompactOutcome>(deps.db, proposing, (gen) => ({
    outcome: { kind: 'cancelled', gen },
    writes: {},
  }))
}

type Asked = Pick<Parameters<typeof summarise>[0], 'cacheKey' | 'idempotencyKey' | 'stop' | 'waits'>

/** @returns undefined if there is nothing worth a summary */
async function makeSummary(
  { transcript, compaction, model, keep, limit, budget }: Compacting,
  asked: Asked,
): Promise<(Summarised & { plan: Plan }) | undefined> {
  const before = transcript.summary && earlier(transcript.summary)
  let reads = budget === undefined ? undefined : Math.max(budget - textTokens(before ?? ''), budget / 4)
  for (let halved = 0; ; halved++) {
    const plan = planCompaction(transcript, { keep, ...(reads !== undefined && { budget: reads }) })
    if (!plan || tokensOf(plan.messages) < LEAST_TOKENS) return undefined
    try {
      const { messages } = plan
      const text = await summarise({ model, prompt: compaction.prompt, before, messages, limit, ...asked })
      return { ...text, plan }
    } catch (error) {
      if (!readTooMuch(error) || halved === HALVINGS) throw error
      reads = Math.min(reads ?? Infinity, tokensOf(plan.messages)) / 2
    }
  }
}

/** The message that is being answered is missing among the messages if it was summarised before. */
function earlier({ text, question }: Pick<Plan, 'question'> & { text: string }): string {
  return question === undefined ? text : `${text}\n\nThe user's message that is being answered:\n${question}`
}

function stopped({ gen }: Mine, stop: AbortSignal): Ending<CompactOutcome> {
  return stop.reason === 'cancel'
    ? { kind: 'settle', outcome: { kind: 'cancelled', gen }, writes: {} }
    : { kind: 'retry', error: shutsDown(), failed: false }
}
