/** Makes the configuration that a child session is created with. Nothing else of the parent reaches the child. */
import { NAME_LIMIT, preview } from '../../core/message.ts'
import { narrowerMode } from '../../protocol/permission-mode.ts'
import type { PermissionSettings } from '../../agent/permission-settings.ts'
import type { ForkProfile } from '../../agent/profile.ts'
import type { PermissionRules } from '../../protocol/permission-rules.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import { composeSystemPrompt } from './system-prompt.ts'

export interface ForkArgs {
  label: string
  systemPrompt?: string
  /** Name of `profile`. */
  profile?: string
  /** For the prompt of `profile`. */
  vars?: Record<string, string>
}

/**
 * The configuration of a child. A field that the profile leaves out is the parent's; for skills it means all. Tool
 * filters and the permission mode only get narrower. `limits` stay unset: they come from the agent or the profile,
 * never from the parent.
 *
 * @param args the arguments of a model; its label is cut
 * @param profile the profile that `args.profile` names, which exists
 * @throws StelloError INVALID_ARGUMENT when the profile's prompt needs a var that is not in `args.vars`
 */
export function forkConfig(parent: SessionConfig, args: ForkArgs, profile: ForkProfile | undefined): SessionConfig {
  const source = `profile:${args.profile ?? ''}` as const
  const child: SessionConfig = {
    agent: parent.agent,
    label: preview(args.label, NAME_LIMIT),
    model: profile?.llm ? source : parent.model,
    tools: profile?.tools ? source : parent.tools,
  }
  const prompt = composeSystemPrompt({
    requested: args.systemPrompt,
    inherited: parent.systemPrompt,
    locked: parent.locked,
    profile,
    vars: args.vars ?? {},
  })
  const profileName = args.profile ?? parent.profile
  if (profileName !== undefined) child.profile = profileName
  if (parent.userId !== undefined) child.userId = parent.userId
  if (parent.searchable !== undefined) child.searchable = parent.searchable
  // If nobody above states allow rules, a rule of the profile must not allow a call that would be asked about.
  const { permissions = parent.permissionMode === undefined ? undefined : [{}] } = parent
  return { ...child, ...prompt, ...narrowed({ ...parent, ...(permissions && { permissions }) }, profile) }
}

/**
 * The configuration of a session without a parent: the agent takes the parent's place. `limits` stay unset.
 *
 * @throws StelloError INVALID_ARGUMENT when the profile's prompt needs a var: there are none
 */
export function rootConfig(
  given: SessionConfig,
  profile: ForkProfile | undefined,
  agent: { systemPrompt: string; lockPrompt: boolean; permissions?: PermissionSettings },
): SessionConfig {
  const { systemPrompt: asked, ...rest } = given
  const locked = agent.lockPrompt ? agent.systemPrompt.length : 0
  // An empty prompt was meant to be empty. In a fork by a model, an empty one counts as left out.
  const inherited =
    asked === '' && profile?.systemPrompt === undefined ? agent.systemPrompt.slice(0, locked) : agent.systemPrompt
  const prompt = composeSystemPrompt({ requested: asked, inherited, locked, profile, vars: {} })
  return { ...rest, ...narrowed(withMode(given, agent), profile), ...prompt }
}

/** The configuration with the mode that the session has: its own, else the agent's. Unset: permissions are off. */
export function withMode(config: SessionConfig, { permissions }: { permissions?: PermissionSettings }): SessionConfig {
  const permissionMode = config.permissionMode ?? (permissions && (permissions.mode ?? 'default'))
  return permissionMode === undefined ? config : { ...config, permissionMode }
}

/** The skills, tools and permissions of a session after `profile` has narrowed them. */
function narrowed(session: SessionConfig, profile: ForkProfile | undefined): Partial<SessionConfig> {
  const skills = !profile || profile.skills === 'inherit' ? session.skills : profile.skills
  const allowedTools = intersection(session.allowedTools, profile?.allowedTools)
  const disallowedTools = union(session.disallowedTools, profile?.disallowedTools)
  const { permissions } = profile ?? {}
  const modes = [session.permissionMode, profile?.permissionMode, permissions?.mode]
  const permissionMode = modes.reduce(narrowerMode) ?? (permissions && 'default')
  const layers = [...(session.permissions ?? []), ...(permissions ? [rulesOf(permissions)] : [])]
  return {
    ...(layers.some((layer) => Object.keys(layer).length > 0) && { permissions: layers }),
    ...(skills && { skills: [...skills] }),
    ...(allowedTools && { allowedTools }),
    ...(disallowedTools && { disallowedTools }),
    ...(permissionMode !== undefined && { permissionMode }),
  }
}

function rulesOf({ mode: _mode, ...rules }: PermissionSettings): PermissionRules {
  return rules
}

type Names = readonly string[] | undefined

function intersection(a: Names, b: Names): string[] | undefined {
  if (a && b) return a.filter((name) => b.includes(name))
  const only = a ?? b
  return only && [...only]
}

function union(a: Names, b: Names): string[] | undefined {
  return a || b ? [...new Set([...(a ?? []), ...(b ?? [])])] : undefined
}
