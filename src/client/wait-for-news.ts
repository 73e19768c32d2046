/** Waiting for the next change of some sessions: a notification, or at most a second. */
import type { Listener } from '../store/listener.ts'

/** A lost notification costs no more than this. */
const POLL_MS = 1000

export interface News {
  /** Resolves when something may have changed since the last call. */
  next(signal?: AbortSignal): Promise<void>
  stop(): void
}

export function waitForNews(
  listener: Listener,
  concerns: (sessionId: string) => boolean,
  pollMs: number = POLL_MS,
): News {
  let heard = false
  let wake: (() => void) | undefined
  const unsubscribe = listener.subscribe(concerns, () => {
    heard = true
    wake?.()
  })
  return {
    async next(signal) {
      if (!heard && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          const woken = (): void => {
            clearTimeout(timer)
            signal?.removeEventListener('abort', woken)
            resolve()
          }
          const timer = setTimeout(woken, pollMs)
          wake = woken
          signal?.addEventListener('abort', woken, { once: true })
        })
      }
      heard = false
      wake = undefined
    },
    stop: unsubscribe,
  }
}
