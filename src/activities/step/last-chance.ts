/**
 * When a step may be taken only once more, it runs alone and after a pause. A worker that dies takes all its steps down
 * with it: the step that killed it and the innocent ones. Another worker then takes all of them over. Without this rule
 * they would die together again, until none of them could be taken any more. The pause has another reason: a step that
 * kills at once would otherwise kill all workers before the first one is back.
 */

/** The pause: time for workers to be started again. */
const CALM_MS = 10_000
/**
 * The next step waits no longer than this for the one before it. It is longer than the watchdog's default limit for a
 * blocked event loop, so a step that runs for longer than this has not blocked the loop.
 */
const ALONE_MS = 45_000

export class LastChance {
  readonly #calmMs: number
  #within: (() => void) | undefined

  constructor(calmMs: number = CALM_MS) {
    this.#calmMs = calmMs
  }

  /**
   * @param waitedMs how long the step has waited to be taken for the last time
   * @returns a function that lets the next step in; undefined while it is too early or another step runs alone
   */
  enter(waitedMs: number): (() => void) | undefined {
    if (this.#within || waitedMs < this.#calmMs) return undefined
    const leave = (): void => {
      clearTimeout(over)
      if (this.#within === leave) this.#within = undefined
    }
    const over = setTimeout(leave, ALONE_MS).unref()
    return (this.#within = leave)
  }
}
