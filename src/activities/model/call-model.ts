/**
 * One model call: reads the transcript, asks the model, and commits its answer with everything that follows from it.
 */
import type { CallModelInput, ModelOutcome } from '../../protocol/steps.ts'
import type { Deps } from '../deps.ts'
import { currentAttempt } from '../step/attempt.ts'
import { runStep, type StepWork } from '../step/run-step.ts'
import { askOnce, Timed } from './ask-once.ts'
import { readModelCall, type ModelCall } from './model-call.ts'
import { choiceOf, pausingEndings, StepWeather, type Held } from './weather.ts'

export async function callModel(deps: Deps, input: CallModelInput): Promise<ModelOutcome> {
  const attempt = currentAttempt(deps, input)
  const call = await readModelCall(deps, input)
  if (!call) return { kind: 'duplicate', gen: input.gen, reason: `message ${input.opening?.messageId} has no text` }
  const { model, waits, stored } = call
  const choice = choiceOf(model)
  const timed = new Timed(deps.metrics, (choice.models[0] ?? model).name)
  const weather = new StepWeather(deps, attempt, { input, choice, waits })
  const work: Omit<StepWork<ModelOutcome | Held>, 'run'> = {
    step: stepOf(call),
    ...pausingEndings(model),
    settled: (outcome) => void (outcome.kind !== 'held' && timed.count(outcome)),
  }
  const result = await weather.pass(stored.rootId, (entered) =>
    runStep<ModelOutcome | Held>(deps, attempt, {
      ...work,
      run: async (claim, stop) =>
        entered
          ? weather.with(entered, claim, (pass) => askOnce(deps, call, { claim, stop, pass, weather, timed }))
          : weather.held(claim),
    }),
  )
  if ('kind' in result) return result
  return 'outcome' in result ? result.outcome : { kind: 'duplicate', gen: result.gen }
}

function stepOf({ input, model, hash, question }: ModelCall): StepWork<ModelOutcome>['step'] {
  const { key, turn, opening } = input
  return {
    key,
    kind: 'model',
    name: model.name,
    inputHash: hash,
    durable: question !== undefined,
    ...(question && opening && { opening: { turn, messageId: opening.messageId, record: question } }),
  }
}
