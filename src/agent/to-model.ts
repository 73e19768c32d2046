/** The only place that reads a model of user code. All other code can rely on its name. */
import { toMs } from '../core/duration.ts'
import { StelloError, messageOf } from '../core/errors.ts'
import type { Model, ModelLike } from '../core/model.ts'

/** The facts of a model, except its name and its rounds, for a model that wraps it. */
export function factsOf(
  model: Model,
): Pick<Model, 'provider' | 'contextWindow' | 'timeoutMs' | 'idleTimeoutMs' | 'retryForMs' | 'missingKey'> {
  const {
    name: _name,
    maxToolRounds: _rounds,
    complete: _complete,
    fallback: _models,
    ...facts
  } = fieldsOf(model, model.name)
  return facts
}

/**
 * The fallback of a model that wraps another one: each model of the fallback is wrapped in the same way, so that the session
 * still chooses among them by the weather.
 */
export function fallbackOf({ fallback }: Model, alike: (model: Model) => Model): Pick<Model, 'fallback'> {
  return fallback ? { fallback: { ...fallback, models: fallback.models.map(alike) } } : {}
}

const FIELDS = [
  'name',
  'provider',
  'contextWindow',
  'maxToolRounds',
  'timeoutMs',
  'idleTimeoutMs',
  'retryForMs',
  'fallback',
  'missingKey',
  'complete',
] as const satisfies (keyof ModelLike)[]

/**
 * The model with a name. A model of user code stays the same object, so that it keeps its own state. Only a model with
 * a computed name is wrapped, because the name might fail or change while sessions run.
 *
 * @param where names it in errors, e.g. `llm`
 * @throws StelloError INVALID_AGENT when it is no model, or a field of it cannot be read
 * @example toModel({ complete }, 'llm').name // 'model'
 */
export function toModel(llm: ModelLike, where: string): Model {
  const { name, complete, ...facts } = fieldsOf(llm, where)
  if (typeof complete !== 'function') {
    throw invalid(where, "must be a model, e.g. openai({ model: 'gpt-5.4-mini' }), or an object with complete()")
  }
  for (const wait of ['timeoutMs', 'idleTimeoutMs', 'retryForMs'] as const) {
    if (facts[wait] !== undefined) toMs(facts[wait], `${where}: ${wait}`, 'INVALID_AGENT')
  }
  if (typeof name === 'string' && !isComputed(llm)) return llm as Model
  return {
    ...facts,
    name: typeof name === 'string' ? name : 'model',
    complete: (messages, options) => llm.complete(messages, options),
  }
}

function fieldsOf(llm: ModelLike, where: string): Partial<ModelLike> {
  try {
    const model = Object(llm) as Partial<ModelLike>
    const read = FIELDS.map((field) => [field, model[field]] as const)
    return Object.fromEntries(read.filter(([, value]) => value !== undefined))
  } catch (error) {
    throw invalid(where, `its ${FIELDS.slice(0, -1).join(', ')} or complete cannot be read: ${messageOf(error)}`)
  }
}

function isComputed(llm: object): boolean {
  for (let at: object | null = llm; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const field = Object.getOwnPropertyDescriptor(at, 'name')
    if (field) return field.get !== undefined
  }
  return false
}

function invalid(where: string, problem: string): StelloError {
  return new StelloError('INVALID_AGENT', `${where}: ${problem}`)
}
