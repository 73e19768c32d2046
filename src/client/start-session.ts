/** How a session is created, and the checks that everything in this folder begins with. */
import { randomBytes } from 'node:crypto'
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { WorkflowIdReusePolicy } from '@temporalio/common'
import { StelloError, isUnavailable } from '../core/errors.ts'
import { SESSION_WORKFLOW } from '../protocol/session-input.ts'
import { startOptions, type Starting } from '../protocol/start-options.ts'
import { clientOrigin, readableId } from '../protocol/keys.ts'
import type { Database } from '../store/database/database.ts'
import { readIdentity } from '../store/database/identity.ts'
import { readSession, type SessionRow } from '../store/sessions/session-row.ts'
import { forgetSession } from '../store/sessions/unopened.ts'
import { readAgents } from '../store/sessions/served-agents.ts'
import { createSession } from '../store/sessions/sessions.ts'
import type { NewSessionRow } from '../store/ledger/writes.ts'
import { missingSearchAttributes, registerSearchAttributes } from '../temporal/register-search-attributes.ts'
import { temporalTrouble } from '../temporal/temporal-trouble.ts'
import type { ClientDeps } from './client-deps.ts'

/**
 * Writes the row first, then starts the workflow: a crash in between leaves a row that the same call completes. A
 * session with an `origin` may be requested again when it runs or has ended: it is the same session. If Temporal
 * refuses, nothing is left.
 *
 * @throws StelloError SERVER_UNREACHABLE naming the session, when Temporal refuses it or does not answer
 */
export async function startSession(deps: ClientDeps, session: NewSessionRow): Promise<void> {
  const { sessionId, origin } = session
  const asked = { ...session.config, searchable: session.config.searchable ?? (await deps.searchable()) }
  const config = await createSession(deps.db, { ...session, config: asked, origin: origin ?? clientOrigin(sessionId) })
  try {
    await startWorkflow(
      deps,
      { ...session, config },
      {
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        session: { sessionId, label: config.label },
      },
    )
  } catch (error) {
    // The store did not answer: nothing is known about Temporal.
    if (isUnavailable(error)) throw error
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw await notStarted(deps.db, sessionId, error)
    if (origin !== undefined) return
    throw new StelloError('SESSION_EXISTS', `session ${sessionId} exists already`, {
      hint: 'leave the id out to get a new one',
    })
  }
}

/** Removes a row whose workflow Temporal has refused. A fork stays, because the log of its parent names it. */
async function notStarted(db: Database, sessionId: string, error: unknown): Promise<StelloError> {
  const { what, hint, refused } = temporalTrouble(error)
  const gone = refused && (await forgetSession(db, sessionId))
  return new StelloError('SERVER_UNREACHABLE', `session ${sessionId} is not started: ${what}`, {
    hint: gone ? hint : `${hint}; then ask for it again with its id, or give it up with \`stello close ${sessionId}\``,
    cause: error,
  })
}

/**
 * Registers search attributes again if Temporal has lost them, for example with its database. If it refuses them, the
 * workflow runs without.
 *
 * @throws WorkflowExecutionAlreadyStartedError
 */
export async function startWorkflow(
  deps: ClientDeps,
  row: Pick<SessionRow, 'rootId' | 'parentId' | 'config'>,
  given: Pick<Starting, 'session' | 'workflowIdReusePolicy'>,
): Promise<{ searchable: boolean }> {
  const options = { ...given, store: await readIdentity(deps.db) }
  // Older sessions do not say.
  const searchable = row.config.searchable ?? (await deps.searchable())
  try {
    await start(deps.client, row, { ...options, searchable })
    return { searchable }
  } catch (error) {
    if (!searchable || error instanceof WorkflowExecutionAlreadyStartedError) throw error
    const missing = await missingSearchAttributes(deps.client).catch(() => [])
    if (missing.length === 0) throw error
    const registered = await registerSearchAttributes(deps.client, { warn: () => undefined })
    await start(deps.client, row, { ...options, searchable: registered })
    return { searchable: registered }
  }
}

async function start(
  client: ClientDeps['client'],
  row: Pick<SessionRow, 'rootId' | 'parentId' | 'config'>,
  starting: Starting,
): Promise<void> {
  await client.workflow.start(SESSION_WORKFLOW, startOptions(row, starting))
}

/** @param names its label, its agent */
export function newSessionId(...names: readonly string[]): string {
  return readableId(names, randomBytes(8).readBigUInt64LE())
}

/** @throws StelloError INVALID_ARGUMENT listing the profiles there are; unknown agents are not judged: no worker may have run yet */
export async function checkProfile(db: Database, agent: string, profile: string | undefined): Promise<void> {
  if (profile === undefined) return
  const served = (await readAgents(db)).find((each) => each.name === agent)
  if (!served || served.manifest.profiles.includes(profile)) return
  throw new StelloError('INVALID_ARGUMENT', `agent "${agent}" has no profile "${profile}"`, {
    hint: `it has: ${served.manifest.profiles.join(', ') || 'none'}`,
  })
}

/** @throws StelloError SESSION_NOT_FOUND */
export async function mustExist(db: Database, sessionId: string): Promise<SessionRow> {
  return (await readSession(db, sessionId)) ?? throwUnknown(sessionId)
}

export function throwUnknown(sessionId: string): never {
  throw new StelloError('SESSION_NOT_FOUND', `there is no session "${sessionId}"`, {
    hint: '`stello list` shows all sessions',
  })
}
