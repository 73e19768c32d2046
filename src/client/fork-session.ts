/**
 * A fork that a client asks for. Only a worker knows the profiles, so the child's own first activity prepares what it
 * inherits.
 */
import { StelloError, isStelloError } from '../core/errors.ts'
import type { ForkRequest } from '../protocol/config.ts'
import { clientOrigin } from '../protocol/keys.ts'
import { inputHash } from '../store/ledger/hashes.ts'
import { closedPrefix } from './closed-prefix.ts'
import { checkFork, type ForkOptions } from './options.ts'
import type { ClientDeps } from './client-deps.ts'
import { checkProfile, mustExist, newSessionId, startSession } from './start-session.ts'

/**
 * @returns the child's id
 * @throws StelloError INVALID_ARGUMENT naming the field that is unknown or has a wrong value
 * @throws StelloError TREE_LIMIT when a bound of the tree is reached; SESSION_CLOSED when the parent is being closed
 * @throws StelloError SESSION_EXISTS when the id names another session, or a fork with other options
 */
export async function forkSession(deps: ClientDeps, parentId: string, options: ForkOptions): Promise<string> {
  const { db } = deps
  const { sessionId: stated, before, ...asked } = checkFork(options)
  const request: ForkRequest = before === undefined ? asked : { context: 'inherit', ...asked }
  const parent = await mustExist(db, parentId)
  const { agent, searchable } = parent.config
  const { label } = request
  const sessionId = stated ?? newSessionId(label, agent)
  await checkProfile(db, agent, request.profile)
  const profile = request.profile ?? parent.config.profile
  const line = { sessionId: parentId, gen: parent.gen }
  const at = { ...line, seq: await closedPrefix(db, line, before) }
  try {
    await startSession(deps, {
      sessionId,
      rootId: parent.rootId,
      parentId,
      depth: parent.depth + 1,
      config: {
        agent,
        label,
        model: 'agent',
        tools: 'agent',
        fork: { request, at },
        ...(profile !== undefined && { profile }),
        ...(searchable !== undefined && { searchable }),
      },
      origin: originOf(parentId, before, request),
    })
  } catch (error) {
    if (!isStelloError(error) || error.code !== 'SESSION_EXISTS') throw error
    throw new StelloError(
      'SESSION_EXISTS',
      `session ${sessionId} exists already, and is not this fork of ${parentId}`,
      {
        hint: 'repeat the request as it was, or leave the id out to get a new fork',
        cause: error,
      },
    )
  }
  return sessionId
}

/**
 * The same text for the same request, whatever the order of its fields. The parent's position is left out, unless it
 * was asked for, because the parent goes on. The text is short, because each fork keeps it.
 */
function originOf(parentId: string, before: number | undefined, { vars = {}, ...request }: ForkRequest): string {
  const sorted = [{ ...request, before }, vars].map((fields) =>
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  return clientOrigin(inputHash(parentId, JSON.stringify(sorted)).slice(0, 16))
}
