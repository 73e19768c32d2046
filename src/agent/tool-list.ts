/** The tools of a session: what its model is shown, and what a called name means. Both come from one list. */
import type { StelloAgent } from './agent.ts'
import {
  BUILTIN_NAMES,
  STELLO_TOOLS,
  activateSkillTool,
  attemptCompletionTool,
  createSessionTool,
  newTaskTool,
  type Builtin,
} from './builtins.ts'
import { mustBeKnown } from '../tool/dynamic-tool.ts'
import { StelloError } from '../core/errors.ts'
import { forksInto, type ToolScope } from './forks-into.ts'
import { hiddenTools } from './hidden-tools.ts'
import { permissionLayers } from './permission-settings.ts'
import type { ToolSpec } from '../core/model.ts'
import { hidesTool } from '../permissions/rules.ts'
import type { PartSource } from '../protocol/config.ts'
import type { Skill } from '../core/skill.ts'
import { toTool } from '../tool/to-tool.ts'
import { permits, type ToolFilter } from '../protocol/tool-filter.ts'
import type { Tool } from '../tool/tool.ts'

export type { ToolScope } from './forks-into.ts'

export interface SessionTools {
  /** As the model sees them: built-ins A to Z, then user tools A to Z. */
  specs: ToolSpec[]
  names: string[]
  /** Those that the model is shown only when it has discovered them. */
  hidden: ReadonlySet<string>
  /** Why there may be more: a pack could not be asked. */
  unknown?: string
  /** The profiles that the session may fork into. */
  profiles: string[]
  find(name: string): { builtin: Builtin } | { tool: Tool } | undefined
}

/**
 * Resolves a session's configuration against the agent the worker serves now.
 *
 * @param asked what packs gave when they were asked: a tool that the agent lists comes first
 */
export function sessionTools(agent: StelloAgent, scope: ToolScope, asked: readonly Tool[] = []): SessionTools {
  const listed = userTools(agent, scope.tools)
  const given = [...listed, ...asked.filter(({ name }) => !listed.some((tool) => tool.name === name))]
  const filters = [agent, scope, { disallowedTools: deniedTools(agent, scope, given) }]
  const own = given.filter(({ name }) => filters.every((filter) => permits(filter, name, STELLO_TOOLS)))
  const profiles = forksInto(agent, scope, own)
  const skills = visibleSkills(agent, scope.skills)
  const offered = offeredTools({ tools: given, skills, profiles, systemTools: agent.systemTools, filters })
  const builtins = new Map(offered.builtins.map((builtin) => [builtin.name, builtin]))
  const tools = new Map(offered.tools.map((tool) => [tool.name, tool]))
  const specs = specsOf(offered)
  return {
    specs,
    names: specs.map((spec) => spec.name),
    hidden: hiddenTools(agent.packs, [...tools.keys()]),
    profiles,
    find: (name) => {
      const builtin = builtins.get(name)
      const tool = tools.get(name)
      return builtin ? { builtin } : tool && { tool }
    },
  }
}

/** Names of the tools that a permission rule denies as a whole: models are not offered what never runs. */
function deniedTools(agent: StelloAgent, scope: ToolScope, given: readonly Tool[]): string[] {
  const layers = permissionLayers(agent, scope)
  if (layers.length === 0) return []
  return [...BUILTIN_NAMES, ...given.map(({ name }) => name)].filter((name) => hidesTool(layers, name))
}

/** The skills a session may activate, in order of registration. */
export function visibleSkills(agent: StelloAgent, allowed: readonly string[] | undefined): Skill[] {
  const skills = [...agent.skills.values()]
  return allowed ? skills.filter((skill) => allowed.includes(skill.name)) : skills
}

/** The user tools of a source. A profile that is gone leaves none: it may have been narrower than its agent. */
function userTools(agent: StelloAgent, source: PartSource): readonly Tool[] {
  const profile = agent.profile(source)
  if (!profile && source !== 'agent') return []
  return profile?.tools ?? [...agent.tools.values()]
}

/**
 * The tools a model sees in a session without restrictions: Stello's own and the user's.
 *
 * @param tools a registry, or a list of anything `toTool` takes
 * @param skillRouter adds `activate_skill` when it has skills
 * @param profiles adds `profile` and `vars` to `stello_create_session` when it has names
 * @throws StelloError INVALID_TOOL when an entry of the list is no tool, or describes itself only in a session
 * @example const specs = buildSessionToolList(toolRegistry, skillRouter, profiles)
 */
export function buildSessionToolList(
  tools: { list(): readonly unknown[] } | readonly unknown[],
  skillRouter?: { list(): readonly Skill[] },
  profiles?: { names(): readonly string[] },
): ToolSpec[] {
  const given = 'list' in tools ? tools.list() : tools
  for (const tool of given) mustBeKnown(tool, 'buildSessionToolList')
  return specsOf(
    offeredTools({
      tools: given.map(toTool),
      skills: skillRouter?.list() ?? [],
      profiles: profiles?.names() ?? [],
      systemTools: false,
      filters: [],
    }),
  )
}

/** What the model reads when it has called a tool that it does not have. */
export function toolNotFound(name: string, tools: SessionTools): StelloError {
  if (tools.unknown !== undefined)
    return new StelloError('TOOL_EXECUTION_ERROR', `tool "${name}" was not run: ${tools.unknown}`)
  const available = tools.names.length > 0 ? `Available: ${tools.names.join(', ')}` : 'There are no tools here'
  return new StelloError('TOOL_NOT_FOUND', `unknown tool "${name}". ${available}`)
}

interface Ingredients {
  tools: readonly Tool[]
  skills: readonly Skill[]
  profiles: readonly string[]
  systemTools: boolean
  filters: readonly ToolFilter[]
}

interface Offered {
  builtins: Builtin[]
  tools: Tool[]
}

/** `stello_create_session` and `activate_skill` win over a user tool of the same name. System tools give way to it. */
function offeredTools({ tools, skills, profiles, systemTools, filters }: Ingredients): Offered {
  const own = tools.filter(({ name }) => !STELLO_TOOLS.includes(name))
  const system = systemTools ? [attemptCompletionTool, newTaskTool(profiles)] : []
  const builtins = [
    createSessionTool(profiles),
    activateSkillTool(skills),
    ...system.filter(({ name }) => !own.some((tool) => tool.name === name)),
  ]
  const permitted = ({ name }: { name: string }): boolean =>
    filters.every((filter) => permits(filter, name, STELLO_TOOLS))
  return {
    builtins: builtins
      .filter((builtin) => builtin !== undefined)
      .filter(permitted)
      .sort(byName),
    tools: own.filter(permitted).sort(byName),
  }
}

function specsOf({ builtins, tools }: Offered): ToolSpec[] {
  return [
    ...builtins.map(({ name, description, parameters, readOnly }) => {
      return { name, description, parameters, ...(readOnly && { readOnly }) }
    }),
    ...tools.map(specOf),
  ]
}

/** A user tool as a model sees it. */
export function specOf({ name, description, parameters, effect, annotations: { title: displayName } }: Tool): ToolSpec {
  const shown = { name, ...(displayName !== undefined && { displayName }), description, parameters }
  return effect === 'pure' ? { ...shown, readOnly: true } : shown
}

/** Sorts by code unit: the same order on every machine keeps prompt caches warm. */
function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}
