/** Asks a model once, within its time, and checks what it says. */
import type { Waits } from '../../agent/wait-settings.ts'
import { StelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { CompleteOptions, Completion, Model } from '../../core/model.ts'
import { bounded, type Bounds } from '../step/bounded.ts'
import { toCompletion } from './completion.ts'
import { readDeltas } from './model-deltas.ts'

const overTime = new WeakSet<object>()

/**
 * Whether the whole time of a call was used up. Such a call may have been paid, and lasts long: it is not repeated as often
 * as one that has failed at once.
 */
export function isOverTime(error: unknown): boolean {
  return typeof error === 'object' && error !== null && overTime.has(error)
}

/** `stop` and the time-outs end the call, in the place of a `signal`. */
interface AskOptions extends Omit<CompleteOptions, 'signal' | 'onAlive'> {
  stop: AbortSignal
  waits: Pick<Waits, 'timeoutMs' | 'idleMs'>
}

/**
 * @throws StelloError MODEL_BAD_ANSWER when the answer is not valid, or as soon as it is too long; every error of the
 *   model
 */
export async function askModel(
  model: Model,
  messages: Message[],
  { stop, waits: { timeoutMs, idleMs }, onDelta = () => undefined, ...options }: AskOptions,
): Promise<Completion> {
  const grown = new AbortController()
  const bounds: Bounds = {
    timeoutMs,
    stop: AbortSignal.any([stop, grown.signal]),
    timedOut() {
      const late = new StelloError('MODEL_UNAVAILABLE', `model ${model.name}: no answer within ${timeoutMs / 1000} s`)
      overTime.add(late)
      return late
    },
    idle: {
      timeoutMs: idleMs,
      timedOut: () => new StelloError('MODEL_UNAVAILABLE', `model ${model.name} gave nothing for ${idleMs / 1000} s`),
    },
    stopped: () => (grown.signal.aborted ? (grown.signal.reason as Error) : new Error('stopped')),
  }
  const deltas = readDeltas(model.name, { take: onDelta, tooLong: (error) => grown.abort(error) })
  const completion = await bounded(bounds, (signal, alive) =>
    model.complete(messages, {
      ...options,
      onDelta(delta) {
        alive()
        deltas(delta)
      },
      onAlive: alive,
      signal,
    }),
  )
  return toCompletion(completion, model.name)
}
