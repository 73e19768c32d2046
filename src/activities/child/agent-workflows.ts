/**
 * Agents: children that a call spawns, sends messages to, and closes. Each is a session with a row of its own and a
 * workflow that this worker starts; its first activity prepares what it inherits, as for a fork of a client.
 *
 * The address of an agent is its session id, for good. A closed agent is opened again under the same id: its row is
 * opened, and a new run of its workflow goes on from the records in the store, as a recovered session does. So it still
 * knows everything, and keeps the parent, bounds and permissions that it was made with. A fork with its whole context would
 * need a second table of addresses, and would count against the bounds of the tree each time.
 *
 * All of it may be repeated: rows are made once by their origin, messages are taken once by their id, and a running
 * workflow is not started again.
 */
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client'
import { setTimeout as delay } from 'node:timers/promises'
import { StelloError } from '../../core/errors.ts'
import type { ForkRequest } from '../../protocol/config.ts'
import { agentKey, agentOrigin, childId } from '../../protocol/keys.ts'
import { cancelTurnSignal, closeSignal, messageSignal } from '../../protocol/temporal-messages.ts'
import { SESSION_WORKFLOW } from '../../protocol/session-input.ts'
import { startOptions, type Starting } from '../../protocol/start-options.ts'
import { readTells, reopenAgent, unansweredMessages } from '../../store/sessions/agent-sessions.ts'
import { mayFork } from '../../store/sessions/bounds.ts'
import { closeBelow, openChildren } from '../../store/sessions/closing.ts'
import { readIdentity } from '../../store/database/identity.ts'
import { getMessage, keepMessage, putMessage } from '../../store/transcript/message-bodies.ts'
import { findChild, readSession, type SessionRow } from '../../store/sessions/session-row.ts'
import { createSession } from '../../store/sessions/sessions.ts'
import { TASK_MESSAGE } from '../../store/sessions/tree.ts'
import { closeUnopened } from '../../store/sessions/unopened.ts'
import type { Deps } from '../deps.ts'
import { describeWorkflow } from '../../temporal/describe-workflow.ts'
import type { CallAtHand } from '../tool/call-at-hand.ts'
import { findProfile } from './prepare-child.ts'

/** A closed workflow has signals to send and packs to tell. The three attempts of a call outlast a minute of that. */
const ENDS_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 100

export interface Spawning {
  request: ForkRequest
  message: string | undefined
  notifies: boolean
  /** Which agent of the call it is, from 0. */
  nth: number
}

/** @throws StelloError TOOL_VALIDATION_ERROR, TREE_LIMIT, SESSION_CLOSED */
export async function spawnAgent(
  deps: Deps,
  { input, facts, hash, tools }: CallAtHand,
  { request, message, notifies, nth }: Spawning,
): Promise<string> {
  const { db, agent } = deps
  const { config, rootId, depth } = facts
  findProfile(agent, request.profile, tools.profiles)
  const step = { sessionId: input.sessionId, key: agentKey(input.key, nth), inputHash: hash }
  const origin = agentOrigin(step, { notifies })
  // The words of an id leave out the secrets that a process knows, so another attempt might spell it differently.
  const known = await findChild(db, input.sessionId, origin)
  const sessionId = known ?? childId(step, [request.label, config.agent])
  const profile = request.profile ?? config.profile
  const at = { sessionId: input.sessionId, gen: input.gen, seq: input.base - 1 }
  if (known === undefined) await mayFork(db, input.sessionId)
  await createSession(db, {
    sessionId,
    rootId,
    parentId: input.sessionId,
    depth: depth + 1,
    config: {
      agent: config.agent,
      label: request.label,
      model: 'agent',
      tools: 'agent',
      fork: { request, at, messageId: input.messageId },
      ...(profile !== undefined && { profile }),
      ...(config.searchable !== undefined && { searchable: config.searchable }),
    },
    origin,
  })
  if (message !== undefined) await keepMessage(db, sessionId, { messageId: TASK_MESSAGE, text: message })
  await startWorkflow(deps, sessionId, 'REJECT_DUPLICATE')
  return sessionId
}

export interface Sending {
  messageId: string
  text: string
  /** The turn that runs is stopped first. */
  interrupt: boolean
}

/**
 * @throws StelloError TOOL_EXECUTION_ERROR when it cannot be opened again, because its parent closes
 * @throws Error when it still closes
 */
export async function sendToAgent(deps: Deps, agentId: string, { messageId, text, interrupt }: Sending): Promise<void> {
  const { db } = deps
  const workflow = handleOf(deps, agentId)
  // A message that is stored was perhaps sent: a second stop would hit the turn that answers it.
  if (interrupt && (await getMessage(db, agentId, messageId)) === undefined)
    await told(workflow.signal(cancelTurnSignal))
  await putMessage(db, agentId, { messageId, text })
  const row = await mustHave(deps, agentId)
  if (row.closedAt) await untilEnded(deps, agentId)
  if (
    row.closedAt &&
    !(await reopenAgent(db, agentId, row.parentId ?? '')) &&
    (await mustHave(deps, agentId)).closedAt
  ) {
    throw new StelloError('TOOL_EXECUTION_ERROR', `agent ${agentId} is closed, and so is the session above it`)
  }
  // A new run begins with all messages that nobody has answered.
  if (row.closedAt || !(await told(workflow.signal(messageSignal, { messageId })))) {
    const started = await startWorkflow(deps, agentId, 'ALLOW_DUPLICATE')
    if (!started) await workflow.signal(messageSignal, { messageId })
  }
}

/**
 * The workflow of a closed agent still tells its parent, its children and its packs. It would hear a message and take it no
 * more, and no other run can be started beside it.
 *
 * @throws Error when it does not end for long: nothing was opened, and the call may be tried again. No `RetryableError`: the
 * tool that sends may have done other things before
 */
async function untilEnded(deps: Deps, agentId: string): Promise<void> {
  const until = performance.now() + ENDS_WITHIN_MS
  while ((await describeWorkflow(deps.client, agentId))?.status.name === 'RUNNING') {
    if (performance.now() >= until) throw new Error(`agent ${agentId} is still closing: try again later`)
    await delay(LOOK_EVERY_MS)
    // Another call has opened it again: its new run hears.
    if (!(await mustHave(deps, agentId)).closedAt) return
  }
}

/** Closes the agent and everything below it. */
export async function closeAgent(deps: Deps, agentId: string): Promise<void> {
  const { db } = deps
  if (await told(handleOf(deps, agentId).signal(closeSignal, { cascade: true }))) return
  const { closedAt } = await mustHave(deps, agentId)
  if (!closedAt && !(await closeUnopened(db, agentId))) {
    // Its workflow was terminated: only a new run can close it.
    await startWorkflow(deps, agentId, 'ALLOW_DUPLICATE')
    await told(handleOf(deps, agentId).signal(closeSignal, { cascade: true }))
    return
  }
  await closeBelow(db, agentId)
  for (const child of await openChildren(db, agentId))
    await told(handleOf(deps, child).signal(closeSignal, { cascade: true }))
}

/** @returns false if there is such a workflow already */
async function startWorkflow(
  deps: Deps,
  sessionId: string,
  workflowIdReusePolicy: Starting['workflowIdReusePolicy'],
): Promise<boolean> {
  const { db, client } = deps
  const row = await mustHave(deps, sessionId)
  const tells = await readTells(db, sessionId)
  const { label, searchable = false } = row.config
  const session = { sessionId, label, messages: await unansweredMessages(db, sessionId), ...(tells && { tells }) }
  const starting = { session, store: await readIdentity(db), workflowIdReusePolicy }
  const start = async (searched: boolean): Promise<void> =>
    void (await client.workflow.start(SESSION_WORKFLOW, startOptions(row, { ...starting, searchable: searched })))
  try {
    await start(searchable).catch((error: unknown) => {
      // Temporal may have lost the search attributes: the session runs without.
      if (!searchable || error instanceof WorkflowExecutionAlreadyStartedError) throw error
      return start(false)
    })
    return true
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false
    throw error
  }
}

async function mustHave({ db }: Deps, sessionId: string): Promise<SessionRow> {
  const row = await readSession(db, sessionId)
  if (row) return row
  throw new StelloError('STORE_CORRUPT', `agent ${sessionId} has no row in the store`)
}

function handleOf({ client }: Deps, sessionId: string): WorkflowHandle {
  return client.workflow.getHandle(sessionId)
}

/** @returns false if no workflow runs that could hear it */
async function told(signal: Promise<void>): Promise<boolean> {
  try {
    await signal
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}
