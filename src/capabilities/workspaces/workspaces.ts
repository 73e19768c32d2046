/**
 * The pack that gives sessions working folders on hosts. It has no tools: it says where calls of tools with
 * `runsIn: 'workspace'` run, and `workspaceRoot` gives their folder to packs of file tools.
 */
import { isAbsolute } from 'node:path'
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import type { WorkspaceKeeper, WorkspacePer } from '../../agent/workspace-keeper.ts'
import { toMs, type Duration } from '../../core/duration.ts'
import { StelloError } from '../../core/errors.ts'
import { sessionIdProblem } from '../../core/path-part.ts'
import type { SessionContext, ToolContext } from '../../tool/tool.ts'
import { hostIdOf } from './host-id.ts'
import { enterFolder, findFolder } from './enter-folder.ts'

/** A new working folder that is to be filled. */
export interface NewWorkspace {
  /** The id of the tree, or of the session, that it belongs to. */
  id: string
  /** The new folder: absolute, and empty. It may be moved before it is used, so nothing may remember this path. */
  root: string
  /** 1 for a first folder; higher when the folder before it was lost with its host. */
  generation: number
  /** Fires when the call is cancelled or its time is over, and when the worker stops. */
  signal: AbortSignal
}

/** Options of `workspaces`. */
export interface WorkspacesOptions {
  /** The folder of all working folders on each host: absolute, made when it is missing. */
  base: string
  /** Which sessions share a folder: `tree`: all sessions of a tree (default). `session`: none. */
  per?: WorkspacePer
  /**
   * The id of this host. Hosts that share `base` over a network have the same. Default: an id that is kept in the file
   * `.stello-host` of `base`.
   */
  host?: string
  /** How many folders of open sessions this host takes at most. Default: no limit. */
  capacity?: number
  /** How long a call waits for a host without a living worker until its folders count as lost. Default 1 minute. */
  lostAfter?: Duration
  /** Fills a new folder, before the first call in it: clones a repository, or unpacks what was saved. */
  hydrate?(workspace: NewWorkspace): void | Promise<void>
}

/**
 * Gives each tree, or each session, a working folder on the host of the worker that first needs it. All calls of its
 * file and shell tools run there.
 *
 * @throws StelloError INVALID_ARGUMENT for a base that is not absolute, and for a bad id, capacity or duration
 * @example
 * const sandboxManager = { root: workspaceRoot() }
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' },
 *   capabilities: [workspaces({ base: '/srv/workspaces' }), filesystem({ sandboxManager })],
 * })
 */
export function workspaces({
  base,
  per = 'tree',
  host,
  capacity,
  lostAfter = '1 minute',
  hydrate,
}: WorkspacesOptions): CapabilityPack & { workspaces: WorkspaceKeeper } {
  if (typeof base !== 'string' || !isAbsolute(base)) {
    throw wrong('base is not absolute: it would depend on where the worker was started', 'give an absolute path')
  }
  if (per !== 'tree' && per !== 'session') throw wrong('per is neither', "give 'tree' or 'session'")
  const unnamed = host === undefined ? undefined : sessionIdProblem(host)
  if (unnamed !== undefined) throw wrong(`host ${unnamed}`, 'leave it out, and the base folder keeps one')
  if (capacity !== undefined && !(Number.isSafeInteger(capacity) && capacity > 0)) {
    throw wrong(`capacity is ${capacity}, which is no number of folders`, 'give a positive integer, or leave it out')
  }
  return {
    name: 'workspaces',
    tools: [],
    workspaces: {
      per,
      lostAfterMs: toMs(lostAfter, 'workspaces: lostAfter'),
      ...(capacity !== undefined && { capacity }),
      host: async () => host ?? hostIdOf(base),
      find: (workspace) => findFolder(base, workspace),
      enter: (workspace, signal) =>
        enterFolder(base, workspace, async (root) => hydrate?.({ ...workspace, root, signal })),
    },
  }
}

/**
 * The root of file and shell tools that work in the session's working folder.
 *
 * @throws Error, by a call, when the agent has no pack `workspaces`
 * @example filesystem({ sandboxManager: { root: workspaceRoot() } })
 */
export function workspaceRoot(): (session: SessionContext) => string {
  return (session) => {
    const { workspace } = session as SessionContext & Pick<ToolContext, 'workspace'>
    if (workspace) return workspace.root
    throw new Error('this session has no working folder: add the pack workspaces({ base }) to the agent')
  }
}

function wrong(problem: string, hint: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', `workspaces: ${problem}`, { hint })
}
