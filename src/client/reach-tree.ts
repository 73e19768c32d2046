/** Pauses, resumes and cancels a session, or all open sessions of its tree, also those below a closed one. */
import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client'
import { StelloError } from '../core/errors.ts'
import { preview } from '../core/message.ts'
import type { Database } from '../store/database/database.ts'
import { holdTree, openInTree, releaseTree, type OpenSession } from '../store/sessions/hold-tree.ts'
import { readSession } from '../store/sessions/session-row.ts'
import { cancelTurnSignal, pauseSignal, resumeSignal } from '../protocol/temporal-messages.ts'
import type { ClientDeps } from './client-deps.ts'
import { mustExist } from './start-session.ts'

/** How far a request reaches. */
export interface TreeOptions {
  /** The session, everything below it, and what is being forked at that moment. Default: the session alone. */
  tree?: boolean
}

/** How far a pause reaches, and why. */
export interface PauseOptions extends TreeOptions {
  /** Why, for people to read. */
  reason?: string
}

/** The sessions that a request has reached. */
export interface Reached {
  /** How many sessions were told. */
  sessions: number
  /** Open sessions whose workflow is gone from Temporal. They cannot be told until they are recovered. */
  lost: string[]
}

/** How many sessions are told at the same time. */
const AT_ONCE = 20
const PAUSED_BY_REQUEST = 'paused by request'
const REASON_LIMIT = 500

/** Forks that come later begin paused, until the tree or the session that forks is resumed. */
export async function pauseTree(deps: ClientDeps, sessionId: string, reason?: string): Promise<Reached> {
  await mustExist(deps.db, sessionId)
  const message = preview(reason ?? PAUSED_BY_REQUEST, REASON_LIMIT)
  await holdTree(deps.db, sessionId, { reason: 'user', message })
  return tellTree(deps, sessionId, (workflow) => workflow.signal(pauseSignal, message))
}

export async function resumeTree(deps: ClientDeps, sessionId: string): Promise<Reached> {
  await mustExist(deps.db, sessionId)
  await releaseTree(deps.db, sessionId)
  return tellTree(deps, sessionId, (workflow) => workflow.signal(resumeSignal))
}

/** A fork that is just being made is stopped by the session that makes it, together with its turn. */
export async function cancelTree(deps: ClientDeps, sessionId: string): Promise<Reached> {
  await mustExist(deps.db, sessionId)
  return tellTree(deps, sessionId, (workflow) => workflow.signal(cancelTurnSignal))
}

/** Looks again until nothing new is found, so that sessions that were forked meanwhile are told too. */
async function tellTree(
  { db, client }: ClientDeps,
  sessionId: string,
  signal: (workflow: WorkflowHandle) => Promise<void>,
): Promise<Reached> {
  const known = new Set<string>()
  const reached: Reached = { sessions: 0, lost: [] }
  const tell = async (session: OpenSession): Promise<void> => {
    const how = await tellOne(db, session, () => signal(client.workflow.getHandle(session.id)))
    if (how === 'told') reached.sessions++
    if (how === 'lost') reached.lost.push(session.id)
  }
  for (;;) {
    const found = (await openInTree(db, sessionId)).filter(({ id }) => !known.has(id))
    if (found.length === 0) return reached
    for (let from = 0; from < found.length; from += AT_ONCE)
      await Promise.all(found.slice(from, from + AT_ONCE).map(tell))
    for (const { id } of found) known.add(id)
  }
}

/**
 * A session whose workflow has not started yet needs no message: its row, or the session that forks it, says how it
 * begins.
 */
async function tellOne(
  db: Database,
  { id, opened }: OpenSession,
  signal: () => Promise<void>,
): Promise<'told' | 'closed' | 'lost'> {
  try {
    await signal()
    return 'told'
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error
    if (!opened) return 'told'
    return (await readSession(db, id))?.closedAt ? 'closed' : 'lost'
  }
}

/** @throws StelloError INVALID_ARGUMENT naming the field */
export function checkReach(what: string, given: unknown, fields: readonly string[]): void {
  if (given === undefined) return
  const known = `its fields: ${fields.join(', ')}`
  if (typeof given !== 'object' || given === null)
    throw new StelloError('INVALID_ARGUMENT', `${what}: the options must be an object`, { hint: known })
  for (const [field, value] of Object.entries(given)) {
    const wanted = field === 'tree' ? 'boolean' : 'string'
    const problem = !fields.includes(field)
      ? 'is no field of it'
      : value !== undefined && typeof value !== wanted && `must be a ${wanted}`
    if (problem) throw new StelloError('INVALID_ARGUMENT', `${what}: ${field} ${problem}`, { hint: known })
  }
}
