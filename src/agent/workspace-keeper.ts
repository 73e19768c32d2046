/** What a pack that gives sessions working folders on hosts must do. Workers do the rest: owners, queues, generations. */

/** Which sessions share a working folder: all sessions of a tree, or none. */
export type WorkspacePer = 'tree' | 'session'

/** A working folder as the store knows it. */
export interface WorkspaceOf {
  /** The id of the tree or of the session, which is a valid name of a folder. */
  id: string
  /** Begins with 1, and is higher after each loss of a host. */
  generation: number
}

/**
 * Keeps the working folders of the host on which the worker runs.
 *
 * @example const pack: CapabilityPack = { name: 'folders', tools: [], workspaces: keeper }
 */
export interface WorkspaceKeeper {
  /** Which sessions share a folder. */
  readonly per: WorkspacePer
  /** How long a call waits for a host without a living worker until the folder counts as lost, milliseconds. */
  readonly lostAfterMs: number
  /** How many folders this host takes at most. Unset: no limit. */
  readonly capacity?: number
  /** The id of this host: 1 to 100 letters, digits, `.`, `_` or `-`, the same after every restart. */
  host(): Promise<string>
  /**
   * Makes the folder when it is missing, and finds it otherwise.
   *
   * @returns its path
   * @throws StelloError TOOL_WORKSPACE_LOST when the folder belongs to a later generation; every error of the code that
   *   fills a new folder
   */
  enter(workspace: WorkspaceOf, signal: AbortSignal): Promise<string>
  /** The path of a folder that is there. Undefined: it is not, and is not made. Unset: closed sessions are not looked at. */
  find?(workspace: WorkspaceOf): Promise<string | undefined>
}
