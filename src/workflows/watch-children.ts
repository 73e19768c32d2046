/**
 * Watches awaited children for which this run has no handle: those that an earlier run started, and adopted ones. It
 * asks Temporal at once, then from time to time. It never keeps a session from being quiet.
 */
import { condition, sleep } from '@temporalio/workflow'
import type { Input } from '../session/inputs.ts'
import { lookAgainMs } from './look-again.ts'
import { storeActivity } from './activities.ts'

export interface AwaitedChild {
  childId: string
  callKey: string
}

/** @param unheard the children to watch, as the session stands now */
export async function watchChildren(unheard: () => AwaitedChild[], emit: (event: Input) => void): Promise<never> {
  for (;;) {
    await condition(() => unheard().length > 0)
    for (let looks = 1; unheard().length > 0; looks++) {
      const children = unheard().map(({ childId }) => childId)
      const ended = await storeActivity('describeChildren', 'look at the awaited children')({ children })
      for (const { childId, how } of ended) {
        const child = unheard().find((one) => one.childId === childId)
        if (child) emit({ type: 'childVanished', ...child, message: how })
      }
      await sleep(lookAgainMs(looks), { summary: 'until the awaited children are looked at again' })
    }
  }
}
