/**
 * Watches awaited children whose end no handle of this run tells: those an earlier run started, and adopted ones.
 * Temporal is asked at once, then ever more rarely. Never keeps a session from being quiet.
 */
import { condition, sleep } from '@temporalio/workflow'
import type { SessionEvent } from '../session/events.ts'
import { storeActivities } from './activities.ts'

const FIRST_MS = 5 * 60_000
const LONGEST_MS = 60 * 60_000

export interface AwaitedChild {
  childId: string
  callKey: string
}

/** @param unheard the children to watch, as the session stands now */
export async function watchChildren(
  unheard: () => AwaitedChild[],
  emit: (event: SessionEvent) => void,
): Promise<never> {
  for (;;) {
    await condition(() => unheard().length > 0)
    for (let wait = FIRST_MS; unheard().length > 0; wait = Math.min(2 * wait, LONGEST_MS)) {
      const children = unheard().map(({ childId }) => childId)
      const ended = await storeActivities('look at the awaited children').describeChildren({ children })
      for (const { childId, how } of ended) {
        const child = unheard().find((one) => one.childId === childId)
        if (child) emit({ type: 'childVanished', ...child, message: how })
      }
      await sleep(wait, { summary: 'until the awaited children are looked at again' })
    }
  }
}
