/** Tools that belong together, ready to be put beside an agent's own. A pack may also open something, or be asked for its tools. */
import { addTool } from './collect-tools.ts'
import type { AnyTool } from '../tool/any-tool.ts'
import type { SessionContext, Tool, ToolContext } from '../tool/tool.ts'
import type { WorkspaceKeeper } from './workspace-keeper.ts'

/**
 * Tools that belong together. A tool of the agent's own replaces one of a pack that has its name.
 *
 * @example
 * const server = connectTo('weather')
 * const weather: CapabilityPack = {
 *   name: 'weather', open: () => server.start(), tools: () => server.listTools(), close: () => server.stop(),
 * }
 */
export interface CapabilityPack {
  /** For errors. Default: `pack`. */
  name?: string
  /**
   * A list of tools, or a registry of them. A function is asked at each model call, and when one of its tools is called,
   * for at most 5 seconds: its list may change. Give the same objects again where nothing has changed.
   */
  tools: { list(): readonly AnyTool[] } | readonly AnyTool[] | PackTools
  /**
   * Tools of the agent that its models are not shown until the tool DiscoverTools has found them: names, in which `*`
   * stands for any characters. Default: none.
   */
  defers?: readonly string[]
  /** Called by each worker before it asks for work, for at most a minute. If it throws, the worker does not start. */
  open?(): void | Promise<void>
  /** Called when the worker has stopped, also where it did not come to start; only if `open` has ended well. */
  close?(): void | Promise<void>
  /**
   * Called when a session was closed, for at most 30 seconds, by one worker: where the session has a working folder, on its
   * host. It ends what the session has left running there. It may be called again for the same session.
   */
  sessionClosed?(session: ClosedSession): void | Promise<void>
  /** Gives sessions working folders on hosts. One pack of an agent at most; see `workspaces()`. */
  workspaces?: WorkspaceKeeper
}

/** A session that was closed, as its packs are told of it. */
export interface ClosedSession extends SessionContext {
  /** Its working folder. Unset: the agent has none for its sessions. */
  workspace?: NonNullable<ToolContext['workspace']>
}

/** The facts about a session that a pack gets when it is asked for tools. */
export type PackContext = SessionContext & Pick<ToolContext, 'ruled'>

/** The tools of a session now. */
export type PackTools = (session: PackContext) => readonly AnyTool[] | Promise<readonly AnyTool[]>

export function nameOfPack({ name = 'pack' }: CapabilityPack): string {
  return name
}

/** The tools that a pack lists. None if it has to be asked for them. */
export function listedTools({ tools }: CapabilityPack): readonly AnyTool[] {
  if (typeof tools === 'function') return []
  return 'list' in tools ? tools.list() : tools
}

/** @throws StelloError INVALID_TOOL naming the pack; names are checked as for every tool */
export function readAsked(pack: CapabilityPack, given: unknown, into: Map<string, Tool>): void {
  const where = `pack "${nameOfPack(pack)}": `
  if (!Array.isArray(given)) throw new TypeError(`${where}tools must give a list, not ${typeof given}`)
  for (const each of given as unknown[]) addTool(into, each, { where, warnings: [] })
}
