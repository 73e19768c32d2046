/** What a worker has opened, and how it is closed again. */
import { messageOf } from '../core/errors.ts'

/** What was opened, closed in reverse order. What fails to close is told, and keeps nothing else open. */
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
