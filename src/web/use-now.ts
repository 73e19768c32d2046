/** The time, for ages that grow while somebody looks. */
import { useEffect, useState } from 'react'

/** Milliseconds since 1970, new every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
