/** How often a tree is looked at: often while it is small, and always so that looking takes little of the time. Pure. */
import type { SessionTree } from '../../client/index.ts'

/** Milliseconds between two looks at a small tree. */
const LOOK_EVERY_MS = 1000
/** How many times as long as the last look a wait is, at least. */
const TIMES = { news: 1, moving: 5, still: 20 } as const

/**
 * Milliseconds until the next look.
 *
 * @param tookMs how long the last look has taken
 * @param why `news`: something is known to have changed; `moving`: some session of the tree is at work or waits for
 *   somebody; `still`: nothing changes until somebody begins something
 * @example lookAgainMs(5, 'still') // 1000
 */
export function lookAgainMs(tookMs: number, why: keyof typeof TIMES): number {
  return Math.max(why === 'news' ? 0 : LOOK_EVERY_MS, tookMs * TIMES[why])
}

/** Whether something in it changes by itself. */
export function isMoving({ state, children }: SessionTree): boolean {
  return state === 'running' || state === 'waiting' || children.some(isMoving)
}
