/** Asks the server for the same thing again and again, while somebody looks. */
import { useCallback, useEffect, useState } from 'react'
import type { ApiFailure } from './api-failure.ts'
import { keepAsking, type Asking } from './keep-asking.ts'

/** The last answer, and the failure since then, if any. `again` asks at once. */
export interface Polled<Answer> {
  answer?: Answer
  failure?: ApiFailure
  again(): void
}

/**
 * Asks at once, whenever `key` changes, and then `everyMs` after each answer.
 *
 * @param key what is asked about; undefined: ask nothing
 * @param ask must not depend on anything but `key`
 */
export function usePolled<Answer>(
  key: string | undefined,
  ask: (key: string) => Promise<Answer>,
  { everyMs, hiddenMs }: Pick<Asking, 'everyMs' | 'hiddenMs'>,
): Polled<Answer> {
  const [read, setRead] = useState<{ answer?: Answer; failure?: ApiFailure }>({})
  const [times, setTimes] = useState(0)
  useEffect(() => {
    if (key === undefined) return undefined
    const stop = new AbortController()
    const round = async (): Promise<void> => {
      const answer = await ask(key)
      if (!stop.signal.aborted) setRead({ answer })
    }
    const failed = (failure: ApiFailure): void => setRead((before) => ({ ...before, failure }))
    void keepAsking(round, { everyMs, over: stop.signal, failed, ...(hiddenMs !== undefined && { hiddenMs }) })
    return () => stop.abort()
    // `ask` is a new function with every rendering; `key` says what it asks.
  }, [key, everyMs, hiddenMs, times])
  return { ...read, again: useCallback(() => setTimes((before) => before + 1), []) }
}
