/** Holds things still without a clock: gates that tests open, and waits for what others do. */

export interface Gate {
  /** Resolves when the gate is open. */
  readonly opened: Promise<void>
  /** How many have come to the gate. */
  readonly arrived: number
  open(): void
  /** Comes to the gate and waits until it is open. */
  pass(): Promise<void>
  /** Resolves when `n` have come. */
  reached(n?: number): Promise<void>
}

export function createGate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  let arrived = 0
  let waiting: { n: number; resolve: () => void }[] = []
  return {
    opened,
    get arrived() {
      return arrived
    },
    open: () => open(),
    async pass() {
      arrived++
      for (const one of waiting) if (arrived >= one.n) one.resolve()
      waiting = waiting.filter((one) => arrived < one.n)
      await opened
    },
    reached: (n = 1) => (arrived >= n ? Promise.resolve() : new Promise((resolve) => waiting.push({ n, resolve }))),
  }
}
