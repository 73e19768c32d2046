/** What the server is asked for again and again, while somebody looks. */
import { useEffect, useState } from 'react'
import { toFailure, type ApiFailure } from './api-failure.ts'

/** What was read last, and what has gone wrong since. `again` reads at once. */
export interface Polled<Answer> {
  answer?: Answer
  failure?: ApiFailure
  again(): void
}

/**
 * Asks at once, whenever `key` changes, and then `everyMs` after each answer. A page that nobody sees asks nothing.
 *
 * @param key what is asked about; undefined: ask nothing
 * @param ask must not depend on anything but `key`
 */
export function usePolled<Answer>(
  key: string | undefined,
  everyMs: number,
  ask: (key: string) => Promise<Answer>,
): Polled<Answer> {
  const [read, setRead] = useState<{ answer?: Answer; failure?: ApiFailure }>({})
  const [times, setTimes] = useState(0)
  useEffect(() => {
    if (key === undefined) return undefined
    let over = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      clearTimeout(timer)
      if (document.visibilityState === 'hidden') return
      const found = await ask(key).then(
        (answer) => ({ answer }),
        (thrown: unknown) => ({ failure: toFailure(thrown) }),
      )
      if (over) return
      setRead((before) => ({ ...before, failure: undefined, ...found }) as typeof before)
      clearTimeout(timer)
      timer = setTimeout(() => void look(), everyMs)
    }
    const seen = (): void => void look()
    document.addEventListener('visibilitychange', seen)
    void look()
    return () => {
      over = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
    // `ask` is a new function with every rendering; `key` says what it asks.
  }, [key, everyMs, times])
  return { ...read, again: () => setTimes((before) => before + 1) }
}
