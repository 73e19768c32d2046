/** What a session is permitted: its mode and the rules of the agent, of its profile and of those above it. */
import type { StelloAgent } from '../../agent/agent.ts'
import { permissionLayers } from '../../agent/permission-settings.ts'
import { mayRead, type Permissions } from '../../permissions/decide.ts'
import { ruleProblem, toRule } from '../../permissions/rule.ts'
import { toRules, type Rules } from '../../permissions/rules.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import { narrowerMode, toMode } from '../../protocol/permission-mode.ts'
import { withMode } from '../child/fork.ts'

const NO_RULES: Rules = { deny: [], ask: [] }

/**
 * @param chosen the mode that a tool has put the session in; it only narrows
 * @returns undefined when permissions are off: everything runs
 */
export function permissionsOf(agent: StelloAgent, config: SessionConfig, chosen?: string): Permissions | undefined {
  const mode = narrowerMode(withMode(config, agent).permissionMode, chosen)
  if (mode === undefined) return undefined
  const layers = permissionLayers(agent, config).map(toRules)
  return { mode: toMode(mode), layers: layers.length > 0 ? layers : [NO_RULES] }
}

/** Adds what people have permitted for good. A rule that this version does not know permits nothing. */
export function withKept(permissions: Permissions, rules: readonly string[]): Permissions {
  const kept = rules.filter((rule) => ruleProblem(rule) === undefined).map(toRule)
  return kept.length > 0 ? { ...permissions, kept } : permissions
}

/** Which files a tool may read. @returns undefined when no rule denies anything */
export function readableIn(
  agent: StelloAgent,
  config: SessionConfig,
  tool: string,
): ((path: string, root?: string) => boolean) | undefined {
  const permissions = permissionsOf(agent, config)
  if (!permissions?.layers.some(({ deny }) => deny.length > 0)) return undefined
  return (path, root) => mayRead(permissions, tool, path, root)
}
