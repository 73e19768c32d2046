/**
 * Decides where a call runs. One call of a tool with `runsIn: 'workspace'`, from the first worker to its result:
 *
 *  1. The call lands on any worker of the agent. The store says which host owns the session's working folder. If none
 *     does, the folder is given to this host, or to a living one with room.
 *  2. The owner is this host: the call enters the folder and runs here. The owner is another host: nothing begins, and
 *     the workflow schedules the call on the queue of that host (`elsewhere`). From then on, the call carries the
 *     generation of the folder.
 *  3. That host does not take the call in time: the call lands on any worker once more. If a worker of the host lives,
 *     it is only busy, and the call waits there again. If none lives, the folder is lost: it gets the next generation
 *     and no owner.
 *  4. A call that carries an earlier generation than the store has is not run. The model reads TOOL_WORKSPACE_LOST, and
 *     from then on the session carries the new generation. Its next call begins at 1.
 */
import type { WorkspaceKeeper } from '../../agent/workspace-keeper.ts'
import { StelloError } from '../../core/errors.ts'
import { newEvent, type NewEvent } from '../../protocol/events.ts'
import type { CallToolInput, Elsewhere } from '../../protocol/steps.ts'
import {
  acquireWorkspace,
  loseWorkspace,
  readHosts,
  readWorkspace,
  type WorkspaceNeed,
  type WorkspaceRow,
} from '../../store/sessions/workspace-owners.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import type { Deps } from '../deps.ts'
import { bounded, type Bounds } from '../step/bounded.ts'
import type { CallAtHand } from './call-at-hand.ts'

export interface Here {
  kind: 'here'
  id: string
  host: string
  generation: number
}

export type Placing =
  | { kind: 'anywhere' }
  | Here
  | Elsewhere
  /** The folder of the call is gone. `generation`: the one that comes after it. */
  | { kind: 'lost'; id: string; generation: number; host?: string }
  /** Every host is full. */
  | { kind: 'nowhere' }

/** @param tool unset: the call has none, or a built-in one */
export async function placeCall(deps: Deps, at: CallAtHand, tool: Tool | undefined): Promise<Placing> {
  const needed = needOf(deps, at, tool)
  if (!needed) return { kind: 'anywhere' }
  const { need, lostAfterMs } = needed
  const { sent, workspace } = at.input
  const known = sent?.untaken ? await stillOwned(deps, need, sent) : await readWorkspace(deps.db, need.id)
  if (known && known.generation > (sent?.generation ?? workspace ?? known.generation)) {
    return { kind: 'lost', id: need.id, generation: known.generation, ...(sent && { host: sent.host }) }
  }
  const owned = known?.host === undefined ? await acquireWorkspace(deps.db, need) : { ...known, host: known.host }
  if (!owned) return { kind: 'nowhere' }
  const { host, generation } = owned
  if (host !== need.host) return { kind: 'elsewhere', host, generation, withinMs: lostAfterMs }
  return { kind: 'here', id: need.id, host, generation }
}

/** The folder as it is now: its host loses it if no worker of that host lives. */
async function stillOwned(deps: Deps, need: WorkspaceNeed, sent: Sent): Promise<WorkspaceRow | undefined> {
  const { db, metrics } = deps
  const hosts = await readHosts(db, need)
  if (hosts.some(({ host, alive }) => host === sent.host && alive)) return readWorkspace(db, need.id)
  if (await loseWorkspace(db, need.id, sent)) metrics.workspaceLost()
  return readWorkspace(db, need.id)
}

/** The place of a call that is only looked at: nobody is given a folder. @returns undefined: it is not here */
export async function placingOf(deps: Deps, at: CallAtHand, tool: Tool): Promise<Placing | undefined> {
  const { need } = needOf(deps, at, tool) ?? {}
  if (!need) return { kind: 'anywhere' }
  const known = await readWorkspace(deps.db, need.id)
  if (known?.host !== need.host) return undefined
  return { kind: 'here', id: need.id, host: need.host, generation: known.generation }
}

/**
 * Enters the folder of a call that has one. The code that fills a new folder is the author's, so it may hang.
 *
 * @throws StelloError TOOL_EXECUTION_ERROR when every host is full; TOOL_TIMEOUT when the folder is not ready in time;
 *   TOOL_CANCELLED; as `WorkspaceKeeper.enter`
 */
export async function enterWorkspace(
  { agent }: Deps,
  placing: Placing,
  { stop, withinMs }: { stop: AbortSignal; withinMs: number },
): Promise<ToolContext['workspace']> {
  if (placing.kind === 'nowhere') {
    throw new StelloError('TOOL_EXECUTION_ERROR', 'no host has room for the working folder of this session')
  }
  const { workspaces } = agent
  if (placing.kind !== 'here' || !workspaces) return undefined
  const { id, generation } = placing
  const late = `the working folder was not ready within ${withinMs / 1000} s: what fills a new folder (hydrate) has not ended`
  const bounds: Bounds = {
    timeoutMs: withinMs,
    stop,
    timedOut: () => new StelloError('TOOL_TIMEOUT', late),
    stopped: () => new StelloError('TOOL_CANCELLED', 'the call was cancelled before its working folder was ready'),
  }
  return { id, root: await bounded(bounds, (signal) => workspaces.enter({ id, generation }, signal)) }
}

/** The event that the session works in the folder from now on; none when it knows that. */
export function acquired(placing: Placing, { workspace, turn, round }: CallToolInput): NewEvent[] {
  if (placing.kind !== 'here' || placing.generation === workspace) return []
  const { id, host, generation } = placing
  const data = { workspaceId: id, host, generation, turn }
  return [newEvent('workspace.acquired', { of: [id, generation], at: { turn, round }, data })]
}

/** The id of the folder of a session. */
export function workspaceIdOf({ per }: Pick<WorkspaceKeeper, 'per'>, sessionId: string, rootId: string): string {
  return per === 'tree' ? rootId : sessionId
}

type Sent = NonNullable<CallToolInput['sent']>

function needOf(
  { agent, host, client }: Deps,
  { facts, input }: CallAtHand,
  tool: Tool | undefined,
): { need: WorkspaceNeed; lostAfterMs: number } | undefined {
  const { workspaces } = agent
  if (!workspaces || host === undefined || tool?.runsIn !== 'workspace') return undefined
  const { rootId } = facts
  const id = workspaceIdOf(workspaces, input.sessionId, rootId)
  const need = { id, rootId, agent: agent.name, host, namespace: client.options.namespace }
  return { need, lostAfterMs: workspaces.lostAfterMs }
}
