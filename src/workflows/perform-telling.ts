/** Carries out the commands that tell: the store what has happened, and people what waits for them. */
import { patched } from '@temporalio/workflow'
import { noticeActivity, releaseActivity, storeActivity } from './activities.ts'
import type { Performing, Run } from './run.ts'

export interface Telling extends Performing<'announce' | 'notifyPeople'> {
  /** People are being told of something. The next run would tell it again, so this one continues as new only behind that. */
  telling(): boolean
}

export function performTelling(run: Run): Telling {
  let notices = 0
  /**
   * Announcements go one after another. Those that decide nothing have a queue of their own, so that no other waits for
   * them.
   */
  const lastTold: Record<'facts' | 'asides', Promise<unknown>> = { facts: Promise.resolve(), asides: Promise.resolve() }

  return {
    async announce({ input, tag }) {
      // Runs that were started by older versions close without these announcements.
      if (input.closing === true && !patched('closing-is-told-first')) return
      if (input.closing === 'unopened' && !patched('an-unopened-close-is-told')) return
      const kind = tag === 'refused' || tag === 'message' ? 'asides' : 'facts'
      const before = lastTold[kind]
      const work = (async () => {
        await before
        const what = [...new Set(input.events.map((event) => event.type))].join(', ') || tag
        const outcome = await storeActivity('announce', what)({ ...input, ...run.facts })
        const messageId = input.message?.messageId
        run.emit({ type: 'announced', key: input.key, tag, outcome, ...(messageId !== undefined && { messageId }) })
        return outcome
      })()
      lastTold[kind] = work
      const { release } = await work
      // Only a worker whose packs are to be told says so: a run that was recorded before there was this knows none.
      if (release)
        await releaseActivity(release.host)({ sessionId: input.sessionId, ...run.facts }).catch(() => undefined)
    },

    /** Not in flight: a session closes without waiting for it. */
    async notifyPeople({ input }) {
      // A run that was recorded by an older version continued as new beside it.
      const counted = patched('continue-behind-notices') ? 1 : 0
      notices += counted
      const notified = (): void => {
        notices -= counted
        run.emit({ type: 'peopleNotified', key: input.key })
      }
      void noticeActivity('tell people')({ ...input, ...run.facts }).then(notified, notified)
    },

    telling: () => notices > 0,
  }
}
