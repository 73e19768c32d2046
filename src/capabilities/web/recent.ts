/** Values that were fetched a short time ago. Old ones, and those beyond the size, are forgotten. */

export interface RecentOptions {
  /** How long a value counts, milliseconds. */
  ageMs: number
  /** Largest size of all values together. */
  sizeLimit: number
  /** Milliseconds of any clock. */
  now: () => number
}

interface Kept<Value> {
  value: Value
  size: number
  until: number
}

export class Recent<Value> {
  readonly #options: RecentOptions
  /** In the order in which they were set. */
  readonly #kept = new Map<string, Kept<Value>>()
  #size = 0

  constructor(options: RecentOptions) {
    this.#options = options
  }

  get(key: string): Value | undefined {
    const found = this.#kept.get(key)
    if (found && found.until > this.#options.now()) return found.value
    this.#forget(key)
    return undefined
  }

  set(key: string, value: Value, size: number): void {
    const { ageMs, sizeLimit, now } = this.#options
    this.#forget(key)
    this.#kept.set(key, { value, size, until: now() + ageMs })
    this.#size += size
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= sizeLimit) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0
    this.#kept.delete(key)
  }
}
