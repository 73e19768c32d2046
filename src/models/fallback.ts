/**
 * Several models of which one answers. The session chooses which one to ask, by which providers are away. This file
 * only says which models there are.
 */
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
 * The first model that is able to answer gives the answer. The next one is asked when the one before it has been away
 * for `after`. It is asked at once when the one before it refuses for capacity (429, 503, 529) or because its account
 * has no credit. As soon as the first model answers again, the session goes back to it. A wrong key or a refused
 * request pauses the session: another model would only hide the problem. Record, usage and price are those of the model
 * that answered. What a provider wants back goes to that provider only.
 *
 * @param models in the order of preference. Here each model waits at a gate of its own, even if several are of one
 *   provider: a provider may have room for one of its models and not for another
 * @returns a model. Its own `complete` does not wait for a provider that is away: it asks one model after the other at
 *   once
 * @throws StelloError INVALID_AGENT when there is no model, one is no model, one has a fallback itself, two have the
 *   same name, or `after` is no duration
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

/** Each of several models of one provider gets a provider name of its own, so that each waits at a gate of its own. */
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
      // A part of an answer that was shown cannot be taken back.
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
