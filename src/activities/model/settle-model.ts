/** Ends a model call whose activity ended without an outcome: the ledger decides, this proposes. */
import { StelloError } from '../../core/errors.ts'
import { toPause } from '../../core/pause.ts'
import type { CallModelInput, ModelOutcome, SettleModelInput } from '../../protocol/steps.ts'
import { readRejection } from '../../store/watching/event-log.ts'
import { forceStep, proposeOutcome } from '../../store/ledger/settle.ts'
import { readTurn } from '../../store/transcript/turns.ts'
import { currentAttempt } from '../step/attempt.ts'
import { awaitHolder } from '../step/await-holder.ts'
import type { Deps } from '../deps.ts'

/** A model call that ran into its backstop is no answer: the session pauses, and resume asks again. */
export async function settleModel(deps: Deps, { step, proposed }: SettleModelInput): Promise<ModelOutcome> {
  const attempt = currentAttempt(deps, step)
  const { run } = attempt
  const proposing = { run, key: step.key, kind: 'model', name: 'model' }
  if (proposed === 'cancelled') {
    // A turn that never asked its model has not heard that its message was answered, or refused, before.
    if (step.opening && (await isAnswered(deps, step))) return { kind: 'duplicate', gen: run.gen }
    return proposeOutcome<ModelOutcome>(deps.db, proposing, (gen) => ({
      outcome: { kind: 'cancelled', gen },
      writes: {},
    }))
  }
  await awaitHolder(deps, attempt, step.key)
  const forced = await forceStep(deps.db, proposing)
  if ('outcome' in forced) return forced.outcome as ModelOutcome
  return {
    kind: 'failed',
    pause: toPause(new StelloError('MODEL_UNAVAILABLE', 'the model gave no answer, and its worker did not say why')),
  }
}

async function isAnswered({ db }: Deps, { sessionId, messageId, gen, turn }: CallModelInput): Promise<boolean> {
  const first = await readTurn(db, { sessionId, gen }, messageId)
  if (first) return first.turn !== turn
  return (await readRejection(db, sessionId, messageId)) !== undefined
}
