/** Checks whether a worker lives on each host that has working folders. */
import type { Finding } from './diagnose.ts'
import type { Database } from '../store/database/database.ts'
import { readHosts, type KnownHost } from '../store/sessions/workspace-owners.ts'

/** @returns nothing where no agent has working folders, or the store does not answer, which other findings tell */
export async function inspectHosts(db: Database, namespace: string): Promise<Finding[]> {
  const hosts = await readHosts(db, { namespace }).catch(() => [])
  return hosts.map(findingOf)
}

function findingOf({ host, alive, workspaces, capacity }: KnownHost): Finding {
  const name = `Host ${host}`
  const most = capacity === undefined ? '' : ` of at most ${capacity}`
  const folders = `${workspaces} working folder${workspaces === 1 ? '' : 's'}${most}`
  if (alive) return { name, ok: true, detail: `a worker lives; ${folders}` }
  return {
    name,
    ok: true,
    warning: true,
    detail: `no worker lives; ${folders}`,
    hint: 'start a worker there; otherwise the sessions that need its folders read TOOL_WORKSPACE_LOST',
  }
}
