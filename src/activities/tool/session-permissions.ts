/** What a session is permitted: its mode and the rules of the agent, of its profile and of those above it. */
import type { StelloAgent } from '../../agent/agent.ts'
import { permissionLayers } from '../../agent/permission-settings.ts'
import { ruled, type Permissions } from '../../permissions/decide.ts'
import { ruleProblem, toRule } from '../../permissions/rule.ts'
import { toRules, type Rules } from '../../permissions/rules.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import { narrowerMode, toMode } from '../../protocol/permission-mode.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { withMode } from '../child/fork.ts'

const NO_RULES: Rules = { deny: [], ask: [] }
/** Above the profile that switches permissions on, everything runs. */
const EVERYTHING: Rules = { ...NO_RULES, allow: [{ text: '*', tool: '*', matches: () => true }] }

/**
 * @param chosen the mode that a tool has put the session in; it only narrows
 * @returns undefined when permissions are off: everything runs
 */
export function permissionsOf(agent: StelloAgent, config: SessionConfig, chosen?: string): Permissions | undefined {
  const mode = narrowerMode(withMode(config, agent).permissionMode, chosen)
  if (mode === undefined) return undefined
  const layers = permissionLayers(agent, config).map(toRules)
  const [first = NO_RULES] = layers
  const listsFirst = !agent.permissions && first.allow !== undefined
  return { mode: toMode(mode), layers: [...(listsFirst ? [EVERYTHING] : []), first, ...layers.slice(1)] }
}

/** Adds what people have permitted for good. A rule that this version does not know permits nothing. */
export function withKept(permissions: Permissions, rules: readonly string[]): Permissions {
  const kept = rules.filter((rule) => ruleProblem(rule) === undefined).map(toRule)
  return kept.length > 0 ? { ...permissions, kept } : permissions
}

/** What user code may ask of the rules of a session. @returns nothing where no rule denies or asks */
export function rulesToAsk(agent: StelloAgent, config: SessionConfig): Pick<ToolContext, 'ruled'> {
  const permissions = permissionsOf(agent, config)
  if (!permissions?.layers.some(({ deny, ask }) => deny.length + ask.length > 0)) return {}
  return { ruled: (tool, touch) => ruled(permissions, tool, touch) }
}

/** The same for the files that a call may read: a tool that searches leaves out what it may not. */
export function readable(tool: string, rules: Pick<ToolContext, 'ruled'>): Pick<ToolContext, 'mayRead'> {
  if (!rules.ruled) return {}
  return {
    mayRead: (path, root) =>
      rules.ruled?.(tool, { kind: 'read', path, ...(root !== undefined && { root }) })?.decision !== 'deny',
  }
}
