/** Closes a session, and with `cascade` everything below it. */
import { WorkflowNotFoundError } from '@temporalio/client'
import { isStelloError } from '../core/errors.ts'
import { closeSignal } from '../protocol/temporal-messages.ts'
import { closeBelow, openChildren } from '../store/sessions/closing.ts'
import { closeUnopened } from '../store/sessions/unopened.ts'
import { reachSession } from './reach-session.ts'
import type { ClientDeps } from './client-deps.ts'

export async function closeSession(
  deps: ClientDeps,
  sessionId: string,
  options: { cascade?: boolean } = {},
): Promise<void> {
  try {
    const signalled = await reachSession(deps, sessionId, () => signalOrClose(deps, sessionId, options))
    if (!signalled && options.cascade) await closeForks(deps, sessionId)
  } catch (error) {
    if (!options.cascade || !isStelloError(error) || error.code !== 'SESSION_CLOSED') throw error
    await closeForks(deps, sessionId)
  }
}

/** @returns false for a session that nobody has opened: its row is all there is, and it is closed now */
async function signalOrClose(
  { client, db }: ClientDeps,
  sessionId: string,
  options: { cascade?: boolean },
): Promise<boolean> {
  try {
    await client.workflow.getHandle(sessionId).signal(closeSignal, options)
    return true
  } catch (error) {
    // A workflow that is just being started finds the session closed.
    if (error instanceof WorkflowNotFoundError && (await closeUnopened(db, sessionId))) return false
    throw error
  }
}

/** The session is closed itself, so its workflow is gone: the client closes what is open below it. */
async function closeForks(deps: ClientDeps, sessionId: string): Promise<void> {
  await closeBelow(deps.db, sessionId)
  for (const childId of await openChildren(deps.db, sessionId)) {
    if (await signalOrClose(deps, childId, { cascade: true }).catch(isGone)) continue
    // The child passes nothing on.
    await closeForks(deps, childId)
  }
}

/** @returns false if there is no workflow. @throws any other error */
function isGone(error: unknown): false {
  if (error instanceof WorkflowNotFoundError) return false
  throw error
}
