/** The permissions of a session: its mode and the rules of the agent, of its profile, of profiles above it, and of its skills. */
import type { StelloAgent } from '../../agent/agent.ts'
import { permissionLayers } from '../../agent/permission-settings.ts'
import { bringsRules, LOADED_SKILLS, skillsInForce } from '../../agent/skill-rules.ts'
import { visibleSkills } from '../../agent/tool-list.ts'
import type { Skill } from '../../core/skill.ts'
import { ruled, type Permissions } from '../../permissions/decide.ts'
import { ruleProblem, toRule, type Rule } from '../../permissions/rule.ts'
import { toRules, type Rules } from '../../permissions/rules.ts'
import type { Branch, SessionConfig } from '../../protocol/config.ts'
import { narrowerMode, toMode } from '../../protocol/permission-mode.ts'
import { readValue } from '../../store/transcript/values.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { withMode } from '../child/fork.ts'
import type { Deps } from '../deps.ts'

const NO_RULES: Rules = { deny: [], ask: [] }
/** Above the profile that switches permissions on, everything runs. */
const EVERYTHING: Rules = { ...NO_RULES, allow: [{ text: '*', tool: '*', matches: () => true }] }

/**
 * With permissions off, a session may still have deny rules from a skill of its parent.
 *
 * @param chosen the mode that a tool has put the session in; it only narrows
 * @returns undefined when permissions are off: everything runs
 */
export function permissionsOf(agent: StelloAgent, config: SessionConfig, chosen?: string): Permissions | undefined {
  const stated = narrowerMode(withMode(config, agent).permissionMode, chosen)
  const mode = stated ?? (config.permissions && 'bypassPermissions')
  if (mode === undefined) return undefined
  const layers = permissionLayers(agent, config).map(toRules)
  const [first = NO_RULES] = layers
  const listsFirst = !agent.permissions && first.allow !== undefined
  return { mode: toMode(mode), layers: [...(listsFirst ? [EVERYTHING] : []), first, ...layers.slice(1)] }
}

/** Adds the rules that people have permitted for good. A rule that this version cannot read permits nothing. */
export function withKept(permissions: Permissions, rules: readonly string[]): Permissions {
  const kept = rules.filter((rule) => ruleProblem(rule) === undefined).map(toRule)
  return kept.length > 0 ? { ...permissions, kept: [...kept, ...(permissions.kept ?? [])] } : permissions
}

/**
 * Adds the rules of the skills in force. Their allow rules count like kept rules, so every other rule that asks or denies wins
 * over them. Their deny rules are one more layer, also if permissions are off.
 */
export function withSkills(permissions: Permissions | undefined, skills: readonly Skill[]): Permissions | undefined {
  const rulesOf = (list: 'allow' | 'deny'): Rule[] =>
    skills.flatMap(({ name, permissions: { [list]: rules = [] } = {} }) =>
      rules.map((rule) => ({ ...toRule(rule), from: `skill ${name}` })),
    )
  const deny = rulesOf('deny')
  if (skills.length === 0) return permissions
  if (!permissions && deny.length === 0) return undefined
  const { layers, ...rest } = permissions ?? { mode: 'bypassPermissions', layers: [NO_RULES] }
  return { ...rest, layers: [...layers, { deny, ask: [] }], kept: rulesOf('allow') }
}

/** The skills of a session whose rules hold for calls that the model makes in its answer at this place. */
export async function readSkillsInForce(
  { agent, db }: Pick<Deps, 'agent' | 'db'>,
  { skills: allowed }: Pick<SessionConfig, 'skills'>,
  { at, messageId }: { at: Branch; messageId?: string | undefined },
): Promise<Skill[]> {
  const skills = visibleSkills(agent, allowed).filter(bringsRules)
  return skills.length > 0 ? skillsInForce(skills, await readValue(db, at, LOADED_SKILLS), messageId) : []
}

/** `ctx.ruled` of a session. @returns undefined if no rule denies or asks */
export function rulesToAsk(
  agent: StelloAgent,
  config: SessionConfig,
  loaded: readonly Skill[] = [],
): Pick<ToolContext, 'ruled'> {
  const permissions = withSkills(permissionsOf(agent, config), loaded)
  if (!permissions?.layers.some(({ deny, ask }) => deny.length + ask.length > 0)) return {}
  return { ruled: (tool, touch) => ruled(permissions, tool, touch) }
}

/** `ctx.mayRead` of a session: a tool that searches leaves out files that may not be read. */
export function readable(tool: string, rules: Pick<ToolContext, 'ruled'>): Pick<ToolContext, 'mayRead'> {
  if (!rules.ruled) return {}
  return {
    mayRead: (path, root) =>
      rules.ruled?.(tool, { kind: 'read', path, ...(root !== undefined && { root }) })?.decision !== 'deny',
  }
}
