/** Closes the open sessions below a session that is closed itself: its workflow is gone, so the client does it. */
import { WorkflowNotFoundError } from '@temporalio/client'
import { closeBelow, openChildren } from '../store/closing.ts'
import { closeUnopened } from '../store/unopened.ts'
import { closeSignal } from '../protocol/messages.ts'
import type { ClientDeps } from './start-session.ts'

export async function closeForks(deps: ClientDeps, sessionId: string): Promise<void> {
  await closeBelow(deps.db, sessionId)
  for (const childId of await openChildren(deps.db, sessionId)) {
    try {
      await deps.client.workflow.getHandle(childId).signal(closeSignal, { cascade: true })
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
      // This session passes nothing on. A session that is just being started finds in the store that it must close, or
      // that it is closed.
      await closeUnopened(deps.db, childId)
      await closeForks(deps, childId)
    }
  }
}
