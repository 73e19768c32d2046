/** What the parts of the simulator share: who judges, and the tape that decides. */
import type { Watcher } from './watcher.ts'

export interface World {
  watcher: Watcher
  choose(options: number): number
  /** Set: nothing odd happens any more. */
  over(): boolean
}
