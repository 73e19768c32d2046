/**
 * Puts limits on code that others wrote (tools, models, hooks): a time-out and a stop signal. No other place enforces a
 * time-out.
 */
export interface Bounds {
  timeoutMs: number
  /** The user's cancel or the worker's shutdown. */
  stop: AbortSignal
  timedOut(): Error
  stopped(): Error
}

/**
 * Answers when the work ends, when its time is over or when it is stopped, whichever comes first. Work that ignores the
 * signal goes on, but nobody waits for its result.
 *
 * @throws the error of `timedOut` or `stopped`; every error of the work
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
