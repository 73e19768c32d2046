/**
 * Which sessions own the background shells of a working folder. A session that starts one owns all of the folder, together with the
 * root of its tree if that works in the same folder: a child that is closed leaves its server to its parent. When the last
 * owner was closed, all shells end.
 */
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClosedSession } from '../../agent/capability-pack.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { findRoot } from '../sandbox/root.ts'
import { endShell } from './background-shells.ts'
import type { ShellPlace, ShellSettings } from './shell-settings.ts'
import { shellStateOf } from './shell-state.ts'

/** To be called before a shell is started. */
export async function ownShells(settings: ShellSettings, { root, state }: ShellPlace, ctx: ToolContext): Promise<void> {
  const shared = ctx.workspace ? ctx.workspace.id === ctx.rootId : (await folderOfTree(settings, ctx)) === root
  const owners = [ctx.sessionId, ...(shared ? [ctx.rootId] : [])]
  for (const owner of owners) await writeFile(join(state.owners, encodeURIComponent(owner)), '')
}

/** Ends all shells of the folder if no owner is left. It may be called again: then it ends those that are still there. */
export async function disownShells({ sandboxManager }: ShellSettings, session: ClosedSession): Promise<void> {
  const root = await findRoot(sandboxManager, session)
  if (root === undefined) return
  const { owners, shells } = shellStateOf(root)
  await rm(join(owners, encodeURIComponent(session.sessionId)), { force: true })
  const left = await readdir(owners).catch(() => undefined)
  if (left?.length !== 0) return
  const all = await readdir(shells).catch(() => [])
  await Promise.all(all.map((id) => endShell(join(shells, id))))
}

/** Undefined: the root of the tree has a folder of its own. */
async function folderOfTree({ sandboxManager }: ShellSettings, ctx: ToolContext): Promise<string | undefined> {
  const { parentId: _parent, profile: _profile, ...session } = ctx
  const root = { ...session, sessionId: ctx.rootId, depth: 0 }
  return findRoot(sandboxManager, root).catch(() => undefined)
}
