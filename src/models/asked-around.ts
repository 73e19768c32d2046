/**
 * While code of an author runs, its caller can notice the models that this code asks by itself. So such calls can be
 * kept in the ledger. In all other code, a model is asked directly.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Message } from '../core/message.ts'
import type { CompleteOptions, Completion, Model } from '../core/model.ts'

/** Asks a model instead of the code that wanted to ask it. */
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
 * Makes the calls of a model noticed. If one model wraps another one, only the calls of the outer model are noticed.
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
