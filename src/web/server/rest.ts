/** Waiting that leaves nothing behind. */

/** Waits. Ends early with one of the signals. @param ms milliseconds; undefined: only a signal ends it */
export function rest(ms: number | undefined, ...signals: readonly AbortSignal[]): Promise<void> {
  const over = AbortSignal.any([...signals])
  if (over.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      over.removeEventListener('abort', end)
      resolve()
    }
    const timer = ms === undefined ? undefined : setTimeout(end, ms)
    over.addEventListener('abort', end)
  })
}
