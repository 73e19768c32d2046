/**
 * Whether somebody sees the page. A browser has six connections to one server for all of its tabs, so a tab that nobody sees
 * must hold none.
 */
import { createMoment } from './moment.ts'

const turn = createMoment()
if (typeof document !== 'undefined') document.addEventListener('visibilitychange', turn.comes)

/** @returns whether the tab is in front */
export function isSeen(): boolean {
  return typeof document === 'undefined' || document.visibilityState === 'visible'
}

/** Aborts when the page is hidden, or seen again. */
export function nextTurn(): AbortSignal {
  return turn.next()
}
