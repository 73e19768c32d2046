/** What a child session is created with. Nothing else of the parent reaches the child. */
import { NAME_LIMIT, preview } from '../../core/message.ts'
import { narrowerMode } from '../../protocol/permission-mode.ts'
import type { ForkProfile } from '../../agent/profile.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import { composeSystemPrompt } from './system-prompt.ts'

export interface ForkArgs {
  label: string
  systemPrompt?: string
  /** Name of `profile`. */
  profile?: string
}

/**
 * The configuration of a child. A field that the profile leaves out is the parent's; for skills it means all. Tool
 * filters and the permission mode only get narrower. `limits` stay unset: they come from the agent or the profile,
 * never from the parent.
 *
 * @param args the arguments of a model; its label is cut
 * @param profile the profile that `args.profile` names, which exists
 * @throws StelloError INVALID_ARGUMENT when the profile's prompt needs a var that is not in `vars`
 */
export function forkConfig(
  parent: SessionConfig,
  args: ForkArgs,
  profile: ForkProfile | undefined,
  vars: Record<string, string>,
): SessionConfig {
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
    vars,
  })
  const profileName = args.profile ?? parent.profile
  if (profileName !== undefined) child.profile = profileName
  if (parent.userId !== undefined) child.userId = parent.userId
  if (parent.searchable !== undefined) child.searchable = parent.searchable
  return { ...child, ...prompt, ...narrowed(parent, profile) }
}

/**
 * The configuration of a session without a parent: the agent takes the parent's place. `limits` stay unset.
 *
 * @throws StelloError INVALID_ARGUMENT when the profile's prompt needs a var: there are none
 */
export function rootConfig(
  given: SessionConfig,
  profile: ForkProfile | undefined,
  agent: { systemPrompt: string; lockPrompt: boolean },
): SessionConfig {
  const { systemPrompt: asked, ...rest } = given
  const locked = agent.lockPrompt ? agent.systemPrompt.length : 0
  // An empty prompt was meant to be empty. In a fork by a model, an empty one counts as left out.
  const inherited =
    asked === '' && profile?.systemPrompt === undefined ? agent.systemPrompt.slice(0, locked) : agent.systemPrompt
  const prompt = composeSystemPrompt({ requested: asked, inherited, locked, profile, vars: {} })
  return { ...rest, ...narrowed(given, profile), ...prompt }
}

/** The skills, tools and permissions of a session after `profile` has narrowed them. */
function narrowed(session: SessionConfig, profile: ForkProfile | undefined): Partial<SessionConfig> {
  const skills = !profile || profile.skills === 'inherit' ? session.skills : profile.skills
  const allowedTools = intersection(session.allowedTools, profile?.allowedTools)
  const disallowedTools = union(session.disallowedTools, profile?.disallowedTools)
  const permissionMode = narrowerMode(session.permissionMode, profile?.permissionMode)
  return {
    ...(skills && { skills: [...skills] }),
    ...(allowedTools && { allowedTools }),
    ...(disallowedTools && { disallowedTools }),
    ...(permissionMode !== undefined && { permissionMode }),
  }
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
