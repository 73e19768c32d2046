/** Decides whether it is too late to add to a registry: it is when a worker has read it. */
import { StelloError, type ErrorCode } from './errors.ts'

export class Late {
  readonly #code: ErrorCode
  #by: string | undefined

  constructor(code: ErrorCode) {
    this.#code = code
  }

  get sealed(): boolean {
    return this.#by !== undefined
  }

  seal(by: string): void {
    this.#by ??= by
  }

  /** @throws StelloError naming what comes too late, and who came first */
  refuse(what: string): void {
    if (this.#by === undefined) return
    throw new StelloError(this.#code, `${what} comes too late: ${this.#by} has started`, {
      hint: 'register everything before the worker starts: all workers of an agent must have the same',
    })
  }
}
