/**
 * The second phase of a call: runs the tool's code under its time-out. The tool sees the session through its context.
 */
import type { StelloAgent } from '../../agent/agent.ts'
import { skillText } from '../../agent/skill-text.ts'
import { StelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { CallAgents } from '../../tool/call-agents.ts'
import type { Skill } from '../../core/skill.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { aboutSession, type AboutSession } from '../session/about-session.ts'
import { bounded, type Bounds } from '../step/bounded.ts'
import type { StoredSession } from '../session/session-configs.ts'
import type { CallValues } from './call-values.ts'
import type { CallEnd } from './finish.ts'
import type { Prepared } from './prepare.ts'
import type { ToolChannel } from './tool-channel.ts'

export interface Execution extends StoredSession {
  sessionId: string
  messageId: string
  idempotencyKey: string
  timeoutMs: number
  /** The user's cancel or the worker's shutdown. */
  stop: AbortSignal
  /** All messages up to the call, which is included. */
  messages: readonly Message[]
  /** Unset: every file may be read. */
  mayRead?: NonNullable<ToolContext['mayRead']>
  /** Unset: no rule denies or asks. */
  ruled?: NonNullable<ToolContext['ruled']>
  channel: ToolChannel
  values: CallValues
  workspace?: NonNullable<ToolContext['workspace']>
  /** Unset: the call may use no agents. */
  agents?: CallAgents
  /** The skills that the session may load. */
  skills: readonly Skill[]
  listTools: ToolContext['listTools']
}

/** @throws StelloError TOOL_EXECUTION_ERROR when it ends without a result; every error of the tool */
export async function execute({ tool, args }: Prepared, channel: ToolChannel, ctx: ToolContext): Promise<unknown> {
  // If the call has timed out or was cancelled, it has been answered already: the tool must not start after that.
  ctx.signal.throwIfAborted()
  channel.status('DOING', { params: Object(args) as Record<string, unknown> })
  return channel.resultOf(tool, await tool.execute(args, ctx))
}

/**
 * Answers for the built-in tools that are a single activity.
 *
 * @param args are checked, so a skill is one that the session may see
 */
export function runBuiltin(name: string, args: unknown, agent: StelloAgent): CallEnd {
  const given = args as { name?: string; offset?: number; result?: string }
  switch (name) {
    case 'activate_skill': {
      const skill = agent.skills.get(given.name ?? '')
      return skill
        ? { value: skillText(skill.files?.length ? skill : withoutFolder(skill), { offset: given.offset }) }
        : { error: new StelloError('TOOL_NOT_FOUND', `unknown skill "${given.name}"`) }
    }
    case 'attempt_completion':
      return { value: given.result, endsTurn: true }
    default:
      return { error: new StelloError('TOOL_NOT_FOUND', `built-in tool "${name}" cannot be run here`) }
  }
}

/** If a folder holds only the `SKILL.md`, its text says everything. */
function withoutFolder({ folder: _folder, ...skill }: Skill): Skill {
  return skill
}

/** @throws StelloError TOOL_TIMEOUT, TOOL_CANCELLED; every error of the work */
export function withinTimeOut<T>(
  name: string,
  execution: Execution,
  work: (ctx: ToolContext) => Promise<T>,
): Promise<T> {
  const { timeoutMs, stop } = execution
  const bounds: Bounds = {
    timeoutMs,
    stop,
    timedOut: () => new StelloError('TOOL_TIMEOUT', `tool "${name}" did not end within ${timeoutMs / 1000} s`),
    stopped: () => new StelloError('TOOL_CANCELLED', `tool "${name}" was cancelled`),
  }
  return bounded(bounds, (signal) => work({ ...toContext(execution), signal }))
}

function toContext(execution: Execution): Omit<ToolContext, 'signal'> {
  const { messages, channel, values, skills, listTools, agents, mayRead, ruled, workspace, idempotencyKey, ...of } =
    execution
  const own = {
    values,
    skills,
    listTools,
    ...(agents && { agents }),
    ...(mayRead && { mayRead }),
    ...(ruled && { ruled }),
    idempotencyKey,
    contextSnapshot: { messages },
    ...(workspace && { workspace }),
  }
  return { ...NOT_YET, ...channel.context, ...aboutTurn(of), ...own }
}

/** The functions that refuse to work before the arguments of the call are complete. */
export const NOT_YET: Pick<ToolContext, 'values' | 'skills' | 'listTools' | 'ask' | 'agents'> = {
  values: { get: async () => undefined, set: refuse, delete: refuse },
  skills: [],
  listTools: async () => refuse(),
  ask: async () => refuse(),
  agents: {
    spawn: async () => refuse(),
    send: async () => refuse(),
    wait: async () => refuse(),
    look: async () => refuse(),
    close: async () => refuse(),
  },
}

function refuse(): never {
  throw new StelloError('INVALID_ARGUMENT', 'the arguments still stream in: act when the call runs')
}

/** The context of a tool before its call is complete. */
export type TurnContext = AboutSession & Pick<ToolContext, 'messageId' | 'bladeConfig'>

export function aboutTurn(of: StoredSession & Pick<Execution, 'sessionId' | 'messageId'>): TurnContext {
  const { sessionId, messageId, config } = of
  return { ...aboutSession(sessionId, of), messageId, bladeConfig: { ...config } }
}
