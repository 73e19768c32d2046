/** Fork profiles: named variations of the agent that a fork may ask for. */
import { StelloError } from '../core/errors.ts'
import { Late } from '../core/late.ts'
import type { CompactionSettings } from './compaction-settings.ts'
import type { LimitSettings } from './limit-settings.ts'
import { NAME_LIMIT, type Message } from '../core/message.ts'
import type { Completion, ModelLike, ToolSpec } from '../core/model.ts'
import { permissionsProblem, type PermissionSettings } from './permission-settings.ts'
import { permissionModeProblem } from '../protocol/permission-mode.ts'
import type { AnyTool } from '../tool/any-tool.ts'
import type { SessionFacts } from '../tool/tool.ts'
import { filterProblem, isNames, type ToolFilter } from '../protocol/tool-filter.ts'
import type { WaitSettings } from './wait-settings.ts'

/** What a `contextFn` may know and use. */
export interface ForkContext {
  /** The session that is forked. */
  readonly parent: SessionFacts
  /** Fires on the user's cancel, on shutdown, and when the function has taken longer than `toolTimeout`. */
  readonly signal: AbortSignal
  /**
   * Asks a model, by default the child's. The answer is stored and counted in usage. A model that is away is waited for, and
   * pauses the session in the end, as between two rounds.
   *
   * @throws StelloError with the model's refusal, when no wait mends it
   * @example
   * const { content } = await context.ask([{ role: 'user', content: `Summarise: ${told}` }])
   */
  ask(messages: Message[], options?: { model?: ModelLike; tools?: ToolSpec[] }): Promise<Completion>
}

/** A field that is left out is the parent's (limits and waits: the agent's; skills: all). */
export interface ForkProfile extends LimitSettings, WaitSettings, ToolFilter {
  /**
   * Text, or a function of the `vars` the fork was asked with. Reading a var that nobody gave is an error, which the
   * model reads. Check `'name' in vars` first when a var is optional.
   */
  systemPrompt?: string | ((vars: Record<string, string>) => string)
  /** How it goes together with the prompt the fork was asked with. Default `prepend`; `preset` ignores the latter. */
  systemPromptMode?: 'preset' | 'prepend' | 'append'
  /** The model of its sessions. Default: the parent's. */
  llm?: ModelLike
  /** How conversations of its sessions are made to fit. Default: the agent's. */
  compaction?: CompactionSettings | false
  /** Exactly these user tools. */
  tools?: readonly AnyTool[]
  /** Whether the child begins with the parent's transcript. Overrides what the model asks for. */
  context?: 'none' | 'inherit'
  /**
   * Decides what the child begins with; overrides `context`. Its result is stored. It runs again from its beginning after
   * a crash, when it throws (as `retries.tools` says), and when a model that it asks is away. A model that was
   * asked by `context.ask`, and a model of this package that was asked in any way, is not asked the same question again.
   */
  contextFn?: (parentRecords: Message[], context: ForkContext) => Message[] | Promise<Message[]>
  /** White-list for `activate_skill`: unset = all, `[]` = none at all, `'inherit'` = those the parent may. */
  skills?: readonly string[] | 'inherit'
  /** Can only narrow what the parent may do, like the tool filters. */
  permissionMode?: string
  /** Rules, and a mode, that hold beside the parent's: they can only narrow what it may do. */
  permissions?: PermissionSettings
  /**
   * Profiles that sessions under this one may fork into. It grants everything that those profiles have. Default: the
   * profiles that bring no tool and no skill which the session lacks. A fork that names no profile stays under this
   * one.
   */
  forksInto?: readonly string[]
  /**
   * Keeps this profile's prompt in front of the prompt of its sessions and of all sessions below them, whatever is
   * asked for. If the profile has no `systemPrompt`, the prompt that the session begins with is kept. Default false.
   */
  lockPrompt?: boolean
}

/**
 * A registry of fork profiles, in order of registration.
 *
 * @example
 * new ForkProfileRegistryImpl().register('us-region', {
 *   systemPrompt: (vars) => `You advise on universities in ${vars.state}.`, systemPromptMode: 'preset', skills: [],
 * })
 */
export class ForkProfileRegistryImpl {
  readonly #profiles = new Map<string, ForkProfile>()
  readonly #late = new Late('INVALID_ARGUMENT')

  /**
   * Adds a profile.
   *
   * @param name 1 to 200 characters
   * @throws StelloError INVALID_ARGUMENT when the name is empty or taken, when a field has a wrong value, or when a worker
   *   that uses the registry has started
   */
  register(name: string, profile: ForkProfile): this {
    this.#late.refuse(`profile "${String(name)}"`)
    const problem = this.#profiles.has(name)
      ? 'is registered twice; rename or remove one of them'
      : (nameProblem(name) ?? profileProblem(profile))
    if (problem) throw new StelloError('INVALID_ARGUMENT', `profile "${String(name)}" ${problem}`)
    this.#profiles.set(name, profile)
    return this
  }

  /**
   * Closes the registry: all workers of an agent must have the same entries, so nothing may be added after the first starts.
   *
   * @param by who uses it, for the error
   */
  seal(by: string): void {
    this.#late.seal(by)
  }

  /** The profile of that name; undefined when there is none. */
  get(name: string): ForkProfile | undefined {
    return this.#profiles.get(name)
  }

  /** The names of all profiles. */
  names(): string[] {
    return [...this.#profiles.keys()]
  }
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'needs a name'
  return name.length > NAME_LIMIT ? `needs a name of at most ${NAME_LIMIT} characters` : undefined
}

/** An agent asks this too, because its registry may be an object of another make. */
export function profileProblem(profile: ForkProfile): string | undefined {
  const {
    systemPrompt,
    systemPromptMode = 'prepend',
    context = 'none',
    contextFn,
    permissionMode,
    lockPrompt,
    skills,
    forksInto,
  } = profile
  if (!['undefined', 'string', 'function'].includes(typeof systemPrompt))
    return 'systemPrompt: must be text or a function of vars'
  if (!['preset', 'prepend', 'append'].includes(systemPromptMode))
    return 'systemPromptMode: must be preset, prepend or append'
  if (!['none', 'inherit'].includes(context)) return 'context: must be none or inherit; for more there is contextFn'
  if (contextFn !== undefined && typeof contextFn !== 'function')
    return 'contextFn: must be a function of the parent’s records'
  if (permissionMode !== undefined && permissionModeProblem(permissionMode) !== undefined)
    return `permissionMode: ${permissionModeProblem(permissionMode)}`
  const rules = permissionsProblem(profile.permissions)
  if (rules !== undefined) return rules
  if (!['undefined', 'boolean'].includes(typeof lockPrompt)) return 'lockPrompt: must be true or false'
  if (skills !== undefined && skills !== 'inherit' && !isNames(skills))
    return "skills: must be a list of names of skills, or 'inherit'"
  if (forksInto !== undefined && !isNames(forksInto)) return 'forksInto: must be a list of names of profiles'
  return filterProblem(profile)
}
