/**
 * Tells packs that a session was closed, so that they end everything that it has left running. This happens on the host of its
 * working folder, or, if it has none, on any worker. The announcement of the close says where. Only the end of the workflow waits
 * for it.
 */
import { Context } from '@temporalio/activity'
import { nameOfPack } from '../../agent/capability-pack.ts'
import { messageOf } from '../../core/errors.ts'
import type { AnnounceOutcome, ReleaseInput } from '../../protocol/announcements.ts'
import { readWorkspace, type WorkspaceRow } from '../../store/sessions/workspace-owners.ts'
import type { ToolContext } from '../../tool/tool.ts'
import type { Deps } from '../deps.ts'
import { bounded } from '../step/bounded.ts'
import { workspaceIdOf } from '../tool/place-call.ts'
import { aboutSession } from './about-session.ts'

const RELEASE_MS = 30_000

/** @returns undefined: no pack is to be told */
export async function releaseOf(deps: Deps, sessionId: string): Promise<AnnounceOutcome['release']> {
  const { agent } = deps
  if (!agent.packs.some(({ sessionClosed }) => sessionClosed)) return undefined
  if (!agent.workspaces) return {}
  const { host } = (await folderOf(deps, sessionId)) ?? {}
  return host === undefined ? undefined : { host }
}

export async function releaseSession(deps: Deps, { sessionId }: ReleaseInput): Promise<void> {
  const { agent, db, configs, log } = deps
  const workspace = agent.workspaces && (await folderHere(deps, sessionId))
  if (agent.workspaces && !workspace) return
  const { cancellationSignal: stop } = Context.current()
  const about = aboutSession(sessionId, await configs.read(db, sessionId))
  const late = (): Error => new Error(`it did not end within ${RELEASE_MS / 1000} s`)
  for (const pack of agent.packs) {
    const told = (signal: AbortSignal): void | Promise<void> =>
      pack.sessionClosed?.({ ...about, signal, ...(workspace && { workspace }) })
    await bounded({ timeoutMs: RELEASE_MS, stop, timedOut: late, stopped: late }, told).catch((error: unknown) =>
      log.warn(`session ${sessionId}: pack "${nameOfPack(pack)}" has not ended what it left: ${messageOf(error)}`),
    )
  }
}

async function folderOf(
  { agent, db, configs }: Deps,
  sessionId: string,
): Promise<(WorkspaceRow & { id: string }) | undefined> {
  if (!agent.workspaces) return undefined
  const { rootId } = await configs.read(db, sessionId)
  const id = workspaceIdOf(agent.workspaces, sessionId, rootId)
  const row = await readWorkspace(db, id)
  return row && { ...row, id }
}

async function folderHere(deps: Deps, sessionId: string): Promise<ToolContext['workspace']> {
  const folder = await folderOf(deps, sessionId)
  if (!folder || folder.host !== deps.host) return undefined
  const root = await deps.agent.workspaces?.find?.(folder)
  return root === undefined ? undefined : { id: folder.id, root }
}
