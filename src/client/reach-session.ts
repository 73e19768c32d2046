/** Talks to the workflow of a session, and finds out why there is none, if so. */
import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowNotFoundError } from '@temporalio/client'
import { StelloError } from '../core/errors.ts'
import type { ClientDeps } from './client-deps.ts'
import { mustExist, throwUnknown } from './start-session.ts'
import { isClosed } from '../store/sessions/session-row.ts'
import { serviceErrorOf, temporalTrouble } from '../temporal/temporal-trouble.ts'

/** A fork's row exists a moment before its parent's worker starts its workflow. */
const STARTED_WITHIN_MS = 30_000
const STARTING_EVERY_MS = 50

/**
 * Does `work` with the workflow of a session. A missing workflow takes no signals. The row says whether the session was
 * closed, never existed, or is just being forked. A session that was opened between the look at Temporal and the look
 * at the row is found the next time.
 *
 * @throws StelloError SESSION_NOT_FOUND, SESSION_CLOSED, SESSION_TERMINATED; SERVER_UNREACHABLE when Temporal refuses
 *   the call or does not answer; whatever else the work throws
 */
export async function reachSession<T>({ db }: Pick<ClientDeps, 'db'>, id: string, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + STARTED_WITHIN_MS
  for (let wasOpened = false; ; await delay(STARTING_EVERY_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw asUnreachable(id, error)
      const row = await mustExist(db, id)
      if (row.closedAt) throw closedError(id)
      if (wasOpened || performance.now() > until) {
        throw new StelloError('SESSION_TERMINATED', `the workflow of session ${id} is gone from Temporal`, {
          hint: `was it terminated there? \`stello recover ${id}\` goes on from where it ended`,
          cause: error,
        })
      }
      wasOpened = row.opened
    }
  }
}

/** Temporal's client says no more than "Failed to signal Workflow": the reason is in the cause. */
function asUnreachable(id: string, error: unknown): unknown {
  if (!serviceErrorOf(error)) return error
  const { what, hint } = temporalTrouble(error)
  return new StelloError('SERVER_UNREACHABLE', `session ${id} is not reached: ${what}`, { hint, cause: error })
}

/** @throws StelloError SESSION_NOT_FOUND, SESSION_CLOSED */
export async function mustBeOpen({ db }: Pick<ClientDeps, 'db'>, id: string): Promise<void> {
  const closed = (await isClosed(db, id)) ?? throwUnknown(id)
  if (closed) throw closedError(id)
}

function closedError(id: string): StelloError {
  return new StelloError('SESSION_CLOSED', `session ${id} is closed`, {
    hint: 'fork it to go on from where it ended',
  })
}
