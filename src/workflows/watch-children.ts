/**
 * Watches awaited children for which this run has no handle: those that an earlier run started, and adopted ones. It
 * asks Temporal at once, then from time to time. It never keeps a session from being quiet.
 */
import { condition, patched, sleep } from '@temporalio/workflow'
import type { Input } from '../session/inputs.ts'
import { lookAgainMs, whoWaited } from './look-again.ts'
import { storeActivity } from './activities.ts'

export interface AwaitedChild {
  childId: string
  callKey: string
}

/** @param unheard the children to watch, as the session stands now */
export async function watchChildren(unheard: () => AwaitedChild[], emit: (input: Input) => void): Promise<never> {
  for (;;) {
    await condition(() => unheard().length > 0)
    for (let looks = 1; unheard().length > 0; looks++) {
      const children = unheard().map(({ childId }) => childId)
      const ended = await storeActivity('describeChildren', 'look at the awaited children')({ children })
      for (const { child, how, first } of whoWaited(unheard(), ended)) {
        // In a run that was recorded by an older version, only the first heard.
        if (first || patched('each-wait-hears')) emit({ type: 'childVanished', ...child, message: how })
      }
      await sleep(lookAgainMs(looks), { summary: 'until the awaited children are looked at again' })
    }
  }
}
