/** Several models of which one answers. A session asks them by the weather; this file only says which they are. */
import { toMs, type Duration } from '../core/duration.ts'
import { StelloError, toStelloError } from '../core/errors.ts'
import type { CompleteOptions, Completion, Model, ModelLike } from '../core/model.ts'
import type { Message } from '../core/message.ts'
import { factsOf, toModel } from '../agent/to-model.ts'
import { noticed } from './asked-around.ts'

/** When the next model is asked. */
export interface FallbackOptions {
  /** How long a model must be away before the next one is asked. Default 30 seconds. */
  after?: Duration
}

/**
 * The first model that can answers. The next one is asked when the one before it has been away for `after`. It is asked
 * at once when that one refuses for capacity (429, 503, 529) or because its account has no credit. It goes back as soon
 * as the first one answers again. A wrong key or a refused request pauses the session: another model would only hide
 * it. Record, usage and price are those of the model that answered; what a provider wants back goes to that provider
 * only.
 *
 * @param models in the order of preference. Models of one provider wait for themselves here, because a provider may have
 *   room for one of its models and not for another
 * @returns its own `complete` knows no weather: it asks one model after the other at once
 * @throws StelloError INVALID_AGENT when there is no model, one is no model, or one has a fallback itself
 * @example createStelloAgent({ name: 'research', llm: fallback([createClaude({ model }), openai({ model: 'gpt-5.4-mini' })]) })
 */
export function fallback(models: readonly ModelLike[], { after = '30s' }: FallbackOptions = {}): Model {
  if (!Array.isArray(models) || models.length === 0) {
    throw invalid('must be a list of at least one model, e.g. fallback([openai({ … }), createClaude({ … })])')
  }
  const afterMs = toMs(after, 'fallback: after', 'INVALID_AGENT')
  const given = models.map((model: ModelLike, index) => toModel(model, `fallback: model ${index + 1}`))
  const nested = given.findIndex((model) => model.fallback)
  if (nested >= 0) throw invalid(`model ${nested + 1} is a fallback itself: put all models into one list`)
  const names = given.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw invalid(`"${twice}" is there twice: nobody could see which of them answers`)
  const each = given.map((model) => onItsOwn(model, given))
  const windows = each.flatMap(({ contextWindow = [] }) => contextWindow)
  const maxToolRounds = each.find((model) => model.maxToolRounds !== undefined)?.maxToolRounds
  return noticed({
    name: names.join(' or '),
    ...(windows.length > 0 && { contextWindow: Math.min(...windows) }),
    ...(maxToolRounds !== undefined && { maxToolRounds }),
    fallback: { models: each, afterMs },
    complete: (messages, options) => askInTurn(each, messages, options),
  })
}

/** Models of one provider get names of their own for the wait before its gate. */
function onItsOwn(model: Model, all: readonly Model[]): Model {
  const { name, provider, maxToolRounds } = model
  if (provider === undefined || all.filter((other) => other.provider === provider).length === 1) return model
  return {
    ...factsOf(model),
    ...(maxToolRounds !== undefined && { maxToolRounds }),
    name,
    provider: `${provider} (${name})`,
    complete: (messages, options) => model.complete(messages, options),
  }
}

async function askInTurn(
  models: readonly Model[],
  messages: Message[],
  { onDelta, ...options }: CompleteOptions = {},
): Promise<Completion> {
  let told = false
  const last = models.at(-1)
  for (const model of models) {
    try {
      const answer = await model.complete(messages, {
        ...options,
        ...(onDelta && {
          onDelta(delta) {
            told = true
            onDelta(delta)
          },
        }),
      })
      return { ...answer, model: answer.model ?? model.name }
    } catch (error) {
      // Half an answer that was shown cannot be taken back.
      if (model === last || told || options.signal?.aborted || !isForAnother(error)) throw error
    }
  }
  throw invalid('has no models')
}

/** Whether another model may answer: the provider is away or has no room, or the account has no credit. */
function isForAnother(error: unknown): boolean {
  const known = toStelloError(error)
  return !known || known.fate === 'retry' || known.code === 'MODEL_NO_CREDIT'
}

function invalid(problem: string): StelloError {
  return new StelloError('INVALID_AGENT', `fallback: ${problem}`)
}
