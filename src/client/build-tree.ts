/** The fork tree, from the store. */
import type { SessionSummary } from '../store/sessions/sessions.ts'

/** A session and its forks. */
export interface SessionTree extends SessionSummary {
  /** Its forks, oldest first. */
  children: SessionTree[]
}

/** Children come oldest first. @param rootId the session at the top */
export function buildTree(sessions: readonly SessionSummary[], rootId: string): SessionTree {
  const nodes = new Map(sessions.map((session): [string, SessionTree] => [session.id, { ...session, children: [] }]))
  const oldestFirst = [...nodes.values()].toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  for (const node of oldestFirst) nodes.get(node.parentId ?? '')?.children.push(node)
  const root = nodes.get(rootId)
  if (!root) throw new Error(`session ${rootId} is not in its own tree`)
  return root
}
