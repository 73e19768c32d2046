/** Waiting for the next change of some sessions: a notification, or at most some time. */
import type { Concerns, Listener } from '../store/database/listener.ts'
import type { News } from '../store/database/notifier.ts'

/** The cost of a lost notification: a second for people who watch, some seconds for those who wait for an answer. */
const POLL_MS = { progress: 1000, decision: 5000 }
/** How long news is heard for somebody who has not begun to wait. */
const AHEAD_MS = 1000
/** If progress does not end the wait: how long progress counts as a sign that no other news was lost. */
const PROGRESS_COUNTS_MS = 10_000

export interface WaitOptions {
  /** Progress does not end the wait; default: any news does. */
  for?: News
  pollMs?: number
  /** The wait ends after so many milliseconds, whatever progress arrives: for changes that nobody notifies of. */
  lookMs?: number
}

export interface NewsWait {
  /** Resolves when something may have changed since the last call. */
  next(signal?: AbortSignal): Promise<Heard>
  stop(): void
}

export interface Heard {
  sessions: ReadonlySet<string>
  /**
   * For which other sessions news may have been lost. `all`: nobody listened for a while. `open`: it is time to look at
   * every session that can change by itself. That time comes once in `pollMs`, however much news some sessions send.
   */
  unheard: 'none' | 'open' | 'all'
}

export function waitForNews(
  listener: Listener,
  concerns: Concerns,
  { for: wanted = 'progress', pollMs = POLL_MS[wanted], lookMs }: WaitOptions = {},
): NewsWait {
  let heard = new Set<string>()
  let deaf = false
  let polled = performance.now()
  let wake: (() => void) | undefined
  let goOn: (() => void) | undefined
  const unsubscribe = listener.subscribe(concerns, (news, sessionId) => {
    if (wanted === 'decision' && news === 'progress') return goOn?.()
    if (sessionId === undefined) deaf = true
    else heard.add(sessionId)
    wake?.()
  })
  return {
    async next(signal) {
      if (heard.size === 0 && !deaf && !signal?.aborted) {
        const begun = performance.now()
        await new Promise<void>((resolve) => {
          const woken = (): void => {
            clearTimeout(timer)
            signal?.removeEventListener('abort', woken)
            resolve()
          }
          const timer = setTimeout(woken, lookMs ?? pollMs)
          wake = woken
          goOn = () => {
            if (lookMs === undefined && performance.now() - begun < PROGRESS_COUNTS_MS) timer.refresh()
          }
          signal?.addEventListener('abort', woken, { once: true })
        })
      }
      const now = performance.now()
      const polls = deaf || heard.size === 0 || now - polled >= pollMs
      const those: Heard = { sessions: heard, unheard: deaf ? 'all' : polls ? 'open' : 'none' }
      heard = new Set()
      deaf = false
      wake = goOn = undefined
      if (polls) polled = now
      return those
    },
    stop: unsubscribe,
  }
}

/** News that is heard before anybody waits for it. */
export interface HeardAhead {
  /** The wait that has begun already. Undefined: it is over, or somebody has it. */
  take(): NewsWait | undefined
  stop(): void
}

/**
 * Begins a wait for a decision before it can come. Whoever goes on with it in time has missed nothing, so needs no first
 * look. It opens no connection for somebody who perhaps waits for nothing.
 *
 * @returns undefined without a connection
 */
export function hearAhead(listener: Listener, sessionId: string): HeardAhead | undefined {
  if (!listener.connected()) return undefined
  let news: NewsWait | undefined = waitForNews(listener, sessionId, { for: 'decision' })
  const take = (): NewsWait | undefined => {
    clearTimeout(over)
    const taken = news
    news = undefined
    return taken
  }
  const stop = (): void => take()?.stop()
  const over = setTimeout(stop, AHEAD_MS).unref()
  return { take, stop }
}
