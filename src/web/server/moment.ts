/** Something that comes to pass again and again, as a signal that ends waits. */
export interface Moment {
  /** Aborts when it comes next. */
  next(): AbortSignal
  /** It has come. */
  comes(): void
}

export function createMoment(): Moment {
  let coming = new AbortController()
  return {
    next: () => coming.signal,
    comes() {
      const come = coming
      coming = new AbortController()
      come.abort()
    },
  }
}
