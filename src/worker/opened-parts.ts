/** The parts that a worker has opened, and how to close them. */
import { messageOf } from '../core/errors.ts'

/**
 * Closes the opened parts in reverse order. If one fails to close, that is logged, and the others are closed all the
 * same.
 */
export class OpenedParts {
  readonly #log: { warn(message: string): void }
  readonly #steps: (() => Promise<void> | void)[] = []

  constructor(log: { warn(message: string): void }) {
    this.#log = log
  }

  add<T>(opened: T, close: (opened: T) => Promise<void> | void): T {
    this.#steps.push(() => close(opened))
    return opened
  }

  async run(): Promise<void> {
    for (let close = this.#steps.pop(); close; close = this.#steps.pop())
      await Promise.resolve(close()).catch((error: unknown) => this.#log.warn(messageOf(error)))
  }
}
