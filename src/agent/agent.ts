/** The agent a worker serves: everything an author configures, checked once and frozen. */
import { resolveCompaction, type Compaction, type CompactionSettings } from './compaction-settings.ts'
import type { CapabilityPack } from './capability-pack.ts'
import { collectProblems } from './collect-problems.ts'
import type { Duration } from '../core/duration.ts'
import { DEFAULT_BOUNDS, DEFAULT_LIMITS, type Limits, type TreeBounds } from '../protocol/limits.ts'
import { resolveBounds, resolveLimits, type LimitSettings } from './limit-settings.ts'
import type { Model, ModelLike } from '../core/model.ts'
import {
  hooksProblem,
  agentPermissionsProblem,
  statedHooks,
  statedPermissions,
  type AgentPermissions,
  type ToolHooks,
} from './permission-settings.ts'
import { createParts, invalidAgent, type Capabilities } from './parts.ts'
import type { PartSource } from '../protocol/config.ts'
import { notifierProblem, type PendingNotifier } from './pending-notifier.ts'
import { redactProblem } from './redact.ts'
import type { ResolvedProfile } from './resolve-profile.ts'
import type { Skill } from '../core/skill.ts'
import { toModel } from './to-model.ts'
import type { AnyTool } from '../tool/any-tool.ts'
import { filterProblem, type ToolFilter } from '../protocol/tool-filter.ts'
import type { SessionFacts, Tool } from '../tool/tool.ts'
import type { WorkspaceKeeper } from './workspace-keeper.ts'
import {
  DEFAULT_WAITS,
  resolveAutoResume,
  resolveWaits,
  waitsWith,
  type AutoResume,
  type AutoResumeSettings,
  type WaitSettings,
  type Waits,
} from './wait-settings.ts'

/** What `onSessionFork` is told: the child. */
export interface SessionFork extends SessionFacts {
  /** The session that forked. */
  parentId: string
  /** The child's name for people, at most 200 characters. */
  label: string
}

/** `maxDepth`, `maxChildren`, `maxSessions` bound the trees of its sessions; default 5, 50, 500. */
export interface AgentDefinition extends LimitSettings, WaitSettings, Partial<TreeBounds>, ToolFilter, ToolHooks {
  /** Also the task queue: 1 to 200 characters without white space. */
  name: string
  /** Answers every session that no fork profile gives a model of its own. */
  llm: ModelLike
  /** The prompt of its sessions. Default: none. */
  systemPrompt?: string
  /** Keeps it in front of the prompt of every session, whatever a client, a profile or a model asks for. Default false. */
  lockPrompt?: boolean
  /** Another name for `toolTimeout`. */
  executionTimeout?: Duration
  /**
   * Whether sessions that have paused try again by themselves, when the reason is one that may pass: by default for
   * weather and not for keys. `true` is both, `false` none.
   */
  autoResume?: boolean | AutoResumeSettings
  /**
   * What happens when a conversation nears the end of the model's window: older records are summarised by a model call of
   * their own. `false`: nothing, and the session pauses when its model refuses a prompt. Default `{}`.
   */
  compaction?: CompactionSettings | false
  /**
   * Secrets of yours: passwords, keys of tools. The worker cuts them from errors, logs, pauses, events and what tools
   * return. Each has 8 to 4096 characters and is cut wherever it appears as a whole. An unset or empty one is ignored.
   */
  redact?: readonly (string | undefined)[]
  /** Offers `attempt_completion` and `new_task`. Default false. */
  systemTools?: boolean
  /** Registries are live until a worker of the agent starts. After that, they refuse new entries. */
  capabilities?: Capabilities
  /**
   * Which calls run without a question. Unset, and without `canUseTool` and `confirm`: every call runs, in sessions that
   * are created without a permission mode.
   */
  permissions?: AgentPermissions
  /**
   * Told of each question and each pause that a person must end: a function, or `{ url, headers }` of a webhook. It never
   * holds up the session. Default: nobody is told.
   *
   * @example onPending: ({ label, message, command }) => mail(`${label}: ${message}. ${command}`)
   */
  onPending?: PendingNotifier
  /**
   * Called once for each fork, before the child runs.
   *
   * @example onSessionFork: ({ parentId, sessionId, label }) => console.log(`${parentId} forked ${sessionId}: ${label}`)
   */
  onSessionFork?: (fork: SessionFork) => void | Promise<void>
}

/** An agent, checked and frozen by `createStelloAgent`: what a worker serves. */
export interface StelloAgent extends Readonly<ToolFilter> {
  /** Its name, which is also the task queue. */
  readonly name: string
  /** Its model. */
  readonly llm: Model
  /** Its system prompt; empty when it has none. */
  readonly systemPrompt: string
  /** Whether its prompt stays in front of every other prompt. */
  readonly lockPrompt: boolean
  /** The limits of a turn, in sessions whose profile states none. */
  readonly limits: Limits
  /** The bounds of the trees that its sessions begin. */
  readonly bounds: TreeBounds
  /** How long its sessions wait, where neither profile nor model nor tool states something else. */
  readonly waits: Waits
  /** Whether and when paused sessions try again by themselves. */
  readonly autoResume: AutoResume
  /** How conversations are made to fit, in sessions whose profile states nothing else. Unset: they are not. */
  readonly compaction?: Compaction
  /** Its own tools, by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Its skills, by name. */
  readonly skills: ReadonlyMap<string, Skill>
  /** Its fork profiles, by name. */
  readonly profiles: ReadonlyMap<string, ResolvedProfile>
  /** Its packs of tools, which workers open. */
  readonly packs: readonly CapabilityPack[]
  /** Gives its sessions working folders. Unset: they have none. */
  readonly workspaces?: WorkspaceKeeper
  /** Whether it offers `attempt_completion` and `new_task`. */
  readonly systemTools: boolean
  /** Secrets that the worker cuts from everything it tells. */
  readonly redact: readonly string[]
  /** Which calls run without a question. Unset: every call does, where the session states no permission mode. */
  readonly permissions?: AgentPermissions
  /** Functions of the author that take part in calls. */
  readonly hooks: ToolHooks
  /** Told of what waits for a person. */
  readonly onPending?: PendingNotifier
  /**
   * Called once for each fork, before the child runs.
   *
   * @example onSessionFork: ({ parentId, sessionId, label }) => console.log(`${parentId} forked ${sessionId}: ${label}`)
   */
  readonly onSessionFork?: (fork: SessionFork) => void | Promise<void>
  /** For the worker's log: settings that were accepted and are probably mistakes. */
  readonly warnings: readonly string[]
  /** The model of a source; the agent's own when the profile is gone or has none. */
  model(source: PartSource): Model
  /** The profile of a source, if it still exists. */
  profile(source: PartSource): ResolvedProfile | undefined
  /** How long a session waits: as its model states, else its profile, else the agent. */
  waitsOf(profile: string | undefined, model: PartSource): Waits
  /** How a session's conversation is made to fit. Undefined: it is not. */
  compactionOf(profile: string | undefined): Compaction | undefined
  /** The limits of a session: its profile's, else the agent's; rounds that neither states are the model's own. */
  limitsOf(profile: string | undefined, model: PartSource): Limits
  /**
   * Adds a tool: a class, `{ name, factory }`, or anything `toTool` takes. Before a worker is started: all workers of an
   * agent must have the same tools.
   *
   * @throws StelloError INVALID_TOOL when it is no tool, its name is taken, or a worker has started
   * @example agent.registerTool(WeatherTool)
   */
  registerTool(tool: AnyTool): void
  /**
   * Called when a worker starts. From then on registries and `registerTool` refuse new entries, because all workers of
   * an agent must have the same.
   *
   * @throws StelloError INVALID_AGENT when something was registered that is wrong
   */
  seal(): void
}

/**
 * Checks and freezes an agent's definition. Its registries are live until a worker starts. A wrong entry that is added
 * later is reported at that start.
 *
 * @throws StelloError INVALID_AGENT listing every problem, not only the first
 * @example
 * export default createStelloAgent({
 *   name: 'research', llm: openai({ model: 'gpt-5.4-mini' }), systemPrompt: 'You research.',
 *   capabilities: { tools: [search] },
 * })
 */
export function createStelloAgent(definition: AgentDefinition): StelloAgent {
  const { problems, attempt } = collectProblems()
  const { name, llm, capabilities = {}, redact = [] } = definition
  const { systemPrompt = '', lockPrompt = false, systemTools = false } = definition
  const {
    toolTimeout = definition.executionTimeout,
    allowedTools,
    disallowedTools,
    onSessionFork,
    onPending,
  } = definition

  const permissions = statedPermissions(definition)
  problems.push(...statedProblems(definition))
  const settings: LimitSettings = toolTimeout === undefined ? definition : { ...definition, toolTimeout }
  const bounds = attempt(() => resolveBounds(definition), DEFAULT_BOUNDS)
  const waits = attempt(() => resolveWaits(definition, DEFAULT_WAITS, ''), DEFAULT_WAITS)
  const autoResume = attempt(() => resolveAutoResume(definition.autoResume), resolveAutoResume())
  const own = attempt(() => toModel(llm, 'llm'), undefined)
  const compaction = attempt(() => resolveCompaction(definition.compaction, 'compaction'), undefined)
  const defaults = withRounds(DEFAULT_LIMITS, own?.maxToolRounds)
  const limits = attempt(() => resolveLimits(settings, defaults, ''), DEFAULT_LIMITS)
  const { packs = [] } = capabilities
  const keepers = packs.flatMap((pack) => pack.workspaces ?? [])
  if (keepers.length > 1) problems.push('capabilities: more than one pack gives working folders (workspaces)')
  const parts = createParts(name, capabilities, { limits, waits })
  problems.push(...parts.problems())
  if (problems.length > 0 || !own) throw invalidAgent(name, problems)

  const profileNamed = (name: string | undefined): ResolvedProfile | undefined =>
    name === undefined ? undefined : parts.read().profiles.get(name)
  const profileOf = (source: PartSource): ResolvedProfile | undefined => profileNamed(source.replace(/^profile:/, ''))
  const modelOf = (source: PartSource): Model => (source === 'agent' ? own : (profileOf(source)?.llm ?? own))
  return Object.freeze({
    name,
    llm: own,
    systemPrompt,
    lockPrompt,
    limits,
    bounds,
    waits,
    autoResume,
    ...(compaction && { compaction }),
    get tools() {
      return parts.read().tools
    },
    get skills() {
      return parts.read().skills
    },
    get profiles() {
      return parts.read().profiles
    },
    get warnings() {
      return parts.read().warnings
    },
    packs,
    ...(keepers[0] && { workspaces: keepers[0] }),
    systemTools,
    redact: redact.flatMap((secret) => secret || []),
    ...(permissions && { permissions }),
    hooks: statedHooks(definition),
    ...(allowedTools && { allowedTools }),
    ...(disallowedTools && { disallowedTools }),
    ...(onPending && { onPending }),
    ...(onSessionFork && { onSessionFork }),
    profile: (source: PartSource) => (source === 'agent' ? undefined : profileOf(source)),
    model: modelOf,
    waitsOf: (name: string | undefined, source: PartSource) =>
      waitsWith(profileNamed(name)?.waits ?? waits, modelOf(source)),
    compactionOf: (name: string | undefined) => {
      const profile = profileNamed(name)
      return profile?.compacts ? profile.compacts.with : compaction
    },
    limitsOf: (name: string | undefined, source: PartSource) => {
      const profile = profileNamed(name)
      const stated = profile?.maxToolRounds ?? definition.maxToolRounds
      return withRounds(profile?.limits ?? limits, stated ?? modelOf(source).maxToolRounds)
    },
    registerTool: (tool: AnyTool) => parts.register(tool),
    seal: () => parts.seal(),
  })
}

/** Checks each field by itself. */
function statedProblems(definition: AgentDefinition): string[] {
  const { name, systemPrompt = '', lockPrompt = false, redact = [], permissions, onPending } = definition
  const validName = typeof name === 'string' && /^\S{1,200}$/.test(name)
  return [
    !validName && 'name: must be 1 to 200 characters without white space (it is the task queue)',
    typeof systemPrompt !== 'string' && 'systemPrompt: must be text',
    typeof lockPrompt !== 'boolean' && 'lockPrompt: must be true or false',
    redactProblem(redact),
    agentPermissionsProblem(permissions),
    hooksProblem(definition),
    notifierProblem(onPending),
    filterProblem(definition),
  ].flatMap((problem) => problem || [])
}

/** Recognises an agent by its shape, not by its class: an agent module may have loaded another copy of this package. */
export function isStelloAgent(value: unknown): value is StelloAgent {
  if (typeof value !== 'object' || value === null) return false
  const agent = value as Partial<StelloAgent>
  return (
    typeof agent.name === 'string' &&
    typeof agent.llm?.complete === 'function' &&
    typeof agent.model === 'function' &&
    typeof agent.limits === 'object' &&
    typeof agent.tools?.get === 'function' &&
    typeof agent.profiles?.get === 'function'
  )
}

function withRounds(limits: Limits, maxToolRounds: number = DEFAULT_LIMITS.maxToolRounds): Limits {
  return { ...limits, maxToolRounds }
}
