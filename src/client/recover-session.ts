/**
 * Starts the workflow of a session again from what the store holds, as the next generation: after it was terminated, or
 * after Temporal lost it. The transcript goes on where it ended; a turn without an answer is taken up again.
 */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowExecutionDescription,
} from '@temporalio/client'
import { ValueError, WorkflowIdReusePolicy } from '@temporalio/common'
import { StelloError } from '../core/errors.ts'
import type { Database } from '../store/database/database.ts'
import { readRejection } from '../store/watching/event-log.ts'
import type { Opening } from '../protocol/steps.ts'
import { readTells } from '../store/sessions/agent-sessions.ts'
import { readIdentity } from '../store/database/identity.ts'
import { keepMessage } from '../store/transcript/message-bodies.ts'
import { isLeftBehind } from '../store/ledger/runs.ts'
import type { SessionRow } from '../store/sessions/session-row.ts'
import { readAwaited } from '../store/sessions/tree.ts'
import { readTurn } from '../store/transcript/turns.ts'
import { describeWorkflow } from '../temporal/describe-workflow.ts'
import type { ClientDeps } from './client-deps.ts'
import { mustExist, startWorkflow } from './start-session.ts'
import { readTaken, unreadable, type Taken } from './taken-messages.ts'

/** Options of `recover`. */
export interface RecoverOptions {
  /**
   * Also ends a workflow that runs, for the case that it disagrees with the store because one of them was restored from
   * a copy. `needed`: ends it only when it visibly cannot go on.
   */
  restart?: boolean | 'needed'
}

/** What `recover` did. */
export interface Recovered {
  /** False: the workflow runs, and nothing was done. */
  restarted: boolean
  /** How many messages the ended workflow had taken and not begun to answer. They are answered now. */
  waiting: number
  /** Temporal has lost the search attributes and refuses them: the session runs without. */
  unsearchable?: true
}

/** @throws StelloError SESSION_NOT_FOUND, SESSION_CLOSED; SESSION_ELSEWHERE: in another namespace or store than this client */
export async function recoverSession(
  deps: ClientDeps,
  sessionId: string,
  { restart = false }: RecoverOptions = {},
): Promise<Recovered> {
  const { client, db } = deps
  const row = await mustExist(db, sessionId)
  if (row.closedAt)
    throw new StelloError('SESSION_CLOSED', `session ${sessionId} is closed: nothing is left to recover`)
  const { namespace = deps.namespace } = row
  if (namespace !== deps.namespace) {
    throw elsewhere(
      `session ${sessionId} lives in namespace ${namespace} of Temporal, and this client is in ${deps.namespace}`,
      {
        hint: `set TEMPORAL_NAMESPACE=${namespace}`,
      },
    )
  }
  const ended = client.workflow.getHandle(sessionId)
  const found = await describeWorkflow(client, sessionId).catch((error: unknown) => {
    // Its memo is decoded.
    throw error instanceof ValueError ? unreadable(sessionId, error) : error
  })
  const store = found?.memo?.['store']
  if (store !== undefined && store !== (await readIdentity(db))) {
    throw elsewhere(`the workflow ${sessionId} in Temporal is of a session in another store`, {
      hint: 'does STELLO_DATABASE_URL lead to the right store?',
    })
  }
  if (found?.status.name === 'RUNNING') {
    if (!restart || (restart === 'needed' && !(await isStuck(db, row, found)))) return { restarted: false, waiting: 0 }
    await ended.terminate('stello recover').catch(ignoreMissing)
  }
  const { awaited, task } = (await readAwaited(db, sessionId)) ?? {}
  const tells = await readTells(db, sessionId)
  const { loadedDataConverter } = client.options
  const owner = { namespace, workflowId: sessionId }
  const given: Taken = found
    ? await readTaken(await ended.fetchHistory(), loadedDataConverter, owner)
    : { messages: [] }
  // A workflow that has ended by itself has carried out its orders: an agent was opened again since.
  const orders: Partial<Taken> = found?.status.name === 'COMPLETED' ? {} : given
  // The message of a task is in the store since its call. Perhaps no workflow that Temporal knows has got it.
  const first =
    task !== undefined && !given.messages.some(({ messageId }) => messageId === task) ? [{ messageId: task }] : []
  const messages: string[] = []
  let waiting = 0
  for (const { messageId, text } of [...first, ...given.messages] as Opening[]) {
    const turn = await readTurn(db, { sessionId, gen: row.gen }, messageId)
    if (turn?.status === 'ended') continue
    if ((await readRejection(db, sessionId, messageId)) !== undefined) continue
    if (text !== undefined) await keepMessage(db, sessionId, { messageId, text })
    messages.push(messageId)
    if (!turn) waiting++
  }
  const { closes } = orders
  // A pause that was carried out is in the row, until a resume lifts it.
  const pauses = row.pause ? undefined : orders.pauses
  const stops = orders.stops !== undefined && orders.stops === messages[0]
  try {
    const { searchable } = await startWorkflow(deps, row, {
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      session: {
        sessionId,
        label: row.config.label,
        // All of them go with the start, so that they are handed over together or not at all.
        messages,
        ...(awaited && { awaited }),
        ...(tells && { tells }),
        ...(stops && { stops }),
        ...(pauses && { pauses }),
        ...(closes && { closes }),
      },
    })
    return { restarted: true, waiting, ...(row.config.searchable && !searchable && { unsearchable: true }) }
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { restarted: false, waiting: 0 }
    throw error
  }
}

/** More attempts at one decision mean that no worker can replay it. Fewer may only mean that a worker has died. */
const ATTEMPTS_IN_VAIN = 4

/**
 * Whether a workflow runs but cannot go on: the store contradicts it or is ahead of it, or no worker can replay its
 * history.
 */
async function isStuck(
  db: Database,
  { id, pause }: Pick<SessionRow, 'id' | 'pause'>,
  { runId, raw }: WorkflowExecutionDescription,
): Promise<boolean> {
  if (pause?.reason === 'store_error' || (await isLeftBehind(db, id, runId))) return true
  return (raw.pendingWorkflowTask?.attempt ?? 0) > ATTEMPTS_IN_VAIN
}

function elsewhere(message: string, options: { hint: string }): StelloError {
  return new StelloError('SESSION_ELSEWHERE', message, options)
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error
}
