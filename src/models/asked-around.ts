/**
 * While code of an author runs, its caller can notice the models that this code asks by itself. So such calls can be
 * kept in the ledger. A model that is asked in any other place is asked as always.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Message } from '../core/message.ts'
import type { CompleteOptions, Completion, Model } from '../core/model.ts'

/** Asks a model in the place of the code that wanted to. */
export type AskAround = (model: Model, messages: Message[], options: CompleteOptions) => Promise<Completion>

/** One for all copies of this package in the process: the agent module may have loaded another one. */
const KEY = Symbol.for('stello-temporal.asked-around')
const shared = globalThis as { [KEY]?: AsyncLocalStorage<AskAround | undefined> }
const around: AsyncLocalStorage<AskAround | undefined> = (shared[KEY] ??= new AsyncLocalStorage())

/**
 * Runs `work`, and hands to `ask` every call of a noticed model in it. Models that `ask` itself calls are not noticed.
 *
 * @param work gets `ask`, for models of the author's own
 */
export function askedAround<T>(ask: AskAround, work: (ask: AskAround) => T): T {
  const outside: AskAround = (...asked) => around.run(undefined, () => ask(...asked))
  return around.run(outside, () => work(outside))
}

/**
 * Makes a model one whose calls are noticed. Only the outer one of two models inside each other is.
 *
 * @returns the same object
 */
export function noticed<Known extends Model>(model: Known): Known {
  const complete = model.complete.bind(model)
  const plain: Model = Object.create(model, { complete: { value: complete, enumerable: true } }) as Model
  return Object.assign(model, {
    complete(messages: Message[], options: CompleteOptions = {}): Promise<Completion> {
      const ask = around.getStore()
      return ask ? ask(plain, messages, options) : complete(messages, options)
    },
  })
}
