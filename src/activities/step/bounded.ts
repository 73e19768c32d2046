/** Bounds what others wrote (tools, models, hooks) by time and by whoever stops it. The only place that enforces a time-out. */
export interface Bounds {
  timeoutMs: number
  /** The user's cancel or the worker's shutdown. */
  stop: AbortSignal
  timedOut(): Error
  stopped(): Error
}

/**
 * Answers when the work ends, its time is over or it is stopped, whichever comes first: work that ignores the signal
 * goes on unheard.
 *
 * @throws what `timedOut` or `stopped` makes; whatever the work throws
 */
export async function bounded<T>(
  { timeoutMs, stop, timedOut, stopped }: Bounds,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  if (stop.aborted) throw stopped()
  const over = new AbortController()
  const ended = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true })
  })
  const onStop = (): void => over.abort(stopped())
  const timer = setTimeout(() => over.abort(timedOut()), timeoutMs)
  stop.addEventListener('abort', onStop, { once: true })
  try {
    return await Promise.race([ended, (async () => work(over.signal))()])
  } finally {
    clearTimeout(timer)
    stop.removeEventListener('abort', onStop)
  }
}
