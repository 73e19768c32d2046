/**
 * Puts limits on code that others wrote (tools, models, hooks): a time-out and a stop signal. No other place enforces a
 * time-out.
 */
export interface Bounds {
  timeoutMs: number
  /** Set for work that gives signs of life: how long it may give none, and the error when it gives none. */
  idle?: { timeoutMs: number; timedOut(): Error }
  /** The user's cancel or the worker's shutdown. */
  stop: AbortSignal
  timedOut(): Error
  stopped(): Error
}

/**
 * Answers when the work ends, when its time is over or when it is stopped, whichever comes first. Work that ignores the
 * signal goes on, but nobody waits for its result. The idle time begins with the first call of `alive`.
 *
 * @throws the error of a `timedOut` or of `stopped`; every error of the work
 */
export async function bounded<T>(
  { timeoutMs, idle, stop, timedOut, stopped }: Bounds,
  work: (signal: AbortSignal, alive: () => void) => T | Promise<T>,
): Promise<T> {
  if (stop.aborted) throw stopped()
  const over = new AbortController()
  const stopping = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true })
  })
  const onStop = (): void => over.abort(stopped())
  const timer = setTimeout(() => over.abort(timedOut()), timeoutMs)
  let silence: NodeJS.Timeout | undefined
  let ended = false
  const alive = (): void => {
    if (!idle || ended) return
    if (silence) silence.refresh()
    else silence = setTimeout(() => over.abort(idle.timedOut()), idle.timeoutMs)
  }
  stop.addEventListener('abort', onStop, { once: true })
  try {
    return await Promise.race([stopping, (async () => work(over.signal, alive))()])
  } finally {
    ended = true
    clearTimeout(timer)
    clearTimeout(silence)
    stop.removeEventListener('abort', onStop)
  }
}
