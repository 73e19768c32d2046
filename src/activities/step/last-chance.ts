/**
 * Lets one step at a time be run by its last taker, and not at once. A worker dies with everything it has in hand, the
 * innocent with the guilty, and another takes all of it over: they would die together until the last time, if they were
 * not parted. And a step that kills at once would have killed all workers before the first is back.
 */

/** For workers that are being started again. */
const CALM_MS = 10_000
/** Longer than the watchdog leaves to a loop that stands still by default: who has lived that long is not waited for. */
const ALONE_MS = 45_000

export class LastChance {
  readonly #calmMs: number
  #within: (() => void) | undefined

  constructor(calmMs: number = CALM_MS) {
    this.#calmMs = calmMs
  }

  /**
   * @param waitedMs how long the step has waited for its last taker
   * @returns lets the next one in; undefined while it is too early, or another is within
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
