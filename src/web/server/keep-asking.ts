/** Asks the server again and again, as long as somebody looks. */
import { isSeen, nextTurn } from './attention.ts'
import { toFailure, type ApiFailure } from './api-failure.ts'
import { rest } from './rest.ts'
import { createTries } from './tries.ts'

export interface Asking {
  everyMs: number
  /** How often while nobody sees the page. Unset: not at all. */
  hiddenMs?: number
  /** Ends it. */
  over: AbortSignal
  failed(failure: ApiFailure): void
}

/** A slow answer is asked for less often: the rounds take at most this share of the time. */
const LONGEST_SHARE = 0.2

/** One round after the other: a slow server is not asked twice at a time. */
export async function keepAsking(
  round: () => Promise<void>,
  { everyMs, hiddenMs, over, failed }: Asking,
): Promise<void> {
  const tries = createTries(over)
  while (!over.aborted) {
    if (!isSeen()) await rest(hiddenMs, over, nextTurn())
    if (over.aborted) return
    const begun = performance.now()
    try {
      await round()
      tries.works(true)
      const took = performance.now() - begun
      await rest(isSeen() ? Math.max(everyMs, took / LONGEST_SHARE) : 0, over)
    } catch (thrown) {
      if (over.aborted) return
      failed(toFailure(thrown))
      await tries.failed(thrown)
    }
  }
}
