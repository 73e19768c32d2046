/** Which profiles a session may fork into. A child is never allowed more than its parent, unless the author says so. */
import type { StelloAgent } from './agent.ts'
import { STELLO_TOOLS } from './builtins.ts'
import type { PartSource } from '../protocol/config.ts'
import type { PermissionRules } from '../protocol/permission-rules.ts'
import type { ResolvedProfile } from './resolve-profile.ts'
import { isSameTool } from '../tool/to-tool.ts'
import { permits, type ToolFilter } from '../protocol/tool-filter.ts'
import type { Tool } from '../tool/tool.ts'

/** The part of a session's configuration that decides what the session may use. Everything below inherits it. */
export interface ToolScope extends ToolFilter {
  /** The profile it is under; unset = the agent itself. */
  profile?: string
  tools: PartSource
  /** White-list of skills; unset = all. */
  skills?: readonly string[]
  /** Permission rules of its profile and of those above it. */
  permissions?: readonly PermissionRules[]
}

/**
 * Names of profiles, in order of registration.
 *
 * The agent itself may fork into all profiles. A session under a profile may fork into those of its `forksInto`; by
 * default, into those that bring no tool and no skill which the session lacks. A session under a profile that is gone
 * may fork into none, because nobody knows what the profile allowed.
 *
 * @param own the user tools that the session may use
 */
export function forksInto(agent: StelloAgent, session: ToolScope, own: readonly Tool[]): string[] {
  const all = [...agent.profiles]
  const bound = session.profile === undefined ? undefined : agent.profiles.get(session.profile)
  if (session.profile !== undefined && !bound) return []
  const stated = bound?.forksInto
  // A tool is the session's own when it was made from the same object. Another tool of that name may do more, or do it
  // elsewhere.
  const bringsNothing = (profile: ResolvedProfile): boolean => {
    const { tools = [], skills = [...agent.skills.keys()] } = profile
    const left = tools.filter(({ name }) =>
      [agent, session, profile].every((each) => permits(each, name, STELLO_TOOLS)),
    )
    return (
      left.every((tool) => own.some((each) => isSameTool(each, tool))) &&
      (skills === 'inherit' || skills.every((skill) => session.skills === undefined || session.skills.includes(skill)))
    )
  }
  const fits = ([name, profile]: [string, ResolvedProfile]): boolean =>
    !bound || (stated ? stated.includes(name) : bringsNothing(profile))
  return all.filter(fits).map(([name]) => name)
}
