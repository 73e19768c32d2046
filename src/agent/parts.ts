/**
 * The content of an agent's registries: tools, skills, profiles. It is read again after each change, until a worker
 * starts.
 */
import { listedTools, type CapabilityPack } from './capability-pack.ts'
import { collectProblems } from './collect-problems.ts'
import { addTool, collectTools } from './collect-tools.ts'
import { StelloError } from '../core/errors.ts'
import { Late } from '../core/late.ts'
import type { ForkProfile } from './profile.ts'
import { resolveProfile, type OfAgent, type ResolvedProfile } from './resolve-profile.ts'
import type { Skill } from '../core/skill.ts'
import { checkSkill } from './skill-rules.ts'
import { toTool } from '../tool/to-tool.ts'
import { type AnyTool, type ToolLike } from '../tool/any-tool.ts'
import type { Tool } from '../tool/tool.ts'

/** A registry that is told when it is too late to add to it. */
export interface Sealable {
  /**
   * Called when a worker starts: what is added later is refused.
   *
   * @param by who has begun to use it, for the error
   */
  seal?(by: string): void
}

/** What an agent can do: tools, skills and fork profiles. */
export interface Capabilities {
  /** A registry, or a list of anything `toTool` takes. */
  tools?: ({ list(): readonly ToolLike[] } & Sealable) | readonly AnyTool[]
  /** What `activate_skill` loads. */
  skills?: { list(): readonly Skill[] } & Sealable
  /** The fork profiles that a fork may ask for. */
  profiles?: { names(): readonly string[]; get(name: string): ForkProfile | undefined } & Sealable
  /** Packs of tools. A tool of `tools` replaces one of a pack that has its name; sessions under a profile that lists `tools` get none of a pack's. */
  packs?: readonly CapabilityPack[]
}

export interface Parts {
  readonly tools: ReadonlyMap<string, Tool>
  readonly skills: ReadonlyMap<string, Skill>
  readonly profiles: ReadonlyMap<string, ResolvedProfile>
  readonly warnings: readonly string[]
}

export interface LiveParts {
  /** The problems of the registries as they are now. */
  problems(): readonly string[]
  /** @throws StelloError INVALID_AGENT listing every problem */
  read(): Parts
  /** @throws StelloError INVALID_TOOL */
  register(tool: AnyTool): void
  /** Called when a worker starts: all workers of an agent have the same parts, so later entries are refused. */
  seal(): void
}

export function createParts(agent: string, capabilities: Capabilities, ofAgent: OfAgent): LiveParts {
  const { tools: given = [], skills, profiles, packs = [] } = capabilities
  const registered: Tool[] = []
  let last: { found: readonly unknown[]; parts: Parts; problems: readonly string[] } | undefined
  const late = new Late('INVALID_TOOL')

  const look = (): NonNullable<typeof last> => {
    if (late.sealed && last) return last
    const tools = [...('list' in given ? given.list() : given), ...registered]
    const packed = packs.flatMap(listedTools)
    const named = (profiles?.names() ?? []).map((name) => [name, profiles?.get(name) ?? {}] as const)
    const known = skills?.list() ?? []
    const found = [...tools, null, ...packed, null, ...known, null, ...named.flat()]
    const before = last?.found
    if (!last || before?.length !== found.length || found.some((each, i) => each !== before[i])) {
      last = { found, ...resolve({ tools, packed, skills: known, profiles: named }, ofAgent) }
    }
    return last
  }
  const read = (): Parts => {
    const { parts, problems } = look()
    if (problems.length > 0) throw invalidAgent(agent, problems)
    return parts
  }
  return {
    problems: () => look().problems,
    read,
    register(given) {
      late.refuse('a tool')
      const tool = toTool(given)
      addTool(new Map(read().tools), tool, { where: '', warnings: [] })
      registered.push(tool)
    },
    seal() {
      read()
      const by = `a worker of agent "${agent}"`
      late.seal(by)
      for (const registry of ['list' in given ? given : undefined, skills, profiles]) registry?.seal?.(by)
    },
  }
}

interface Found {
  tools: readonly unknown[]
  /** What packs list. */
  packed: readonly unknown[]
  skills: readonly Skill[]
  profiles: readonly (readonly [name: string, profile: ForkProfile])[]
}

/** Every problem is reported, not only the first. */
function resolve(found: Found, ofAgent: OfAgent): { parts: Parts; problems: readonly string[] } {
  const { problems, attempt } = collectProblems()
  const warnings: string[] = []
  const tools = collectTools(found.tools, { where: '', attempt, warnings })
  const own = new Set(tools.keys())
  const replaced = (tool: unknown): boolean => attempt(() => own.has(toTool(tool).name), false)
  for (const each of found.packed)
    attempt(() => (replaced(each) ? undefined : addTool(tools, each, { where: '', warnings })), undefined)
  for (const skill of found.skills) attempt(() => checkSkill(skill), undefined)
  const skills = new Map(found.skills.map((skill) => [skill.name, skill]))
  const names = found.profiles.map(([name]) => name)
  const profiles = new Map<string, ResolvedProfile>()
  for (const [name, profile] of found.profiles) {
    const around = { ...ofAgent, skills, profiles: names, attempt, warnings }
    const resolved = attempt(() => resolveProfile(name, profile, around), undefined)
    if (resolved) profiles.set(name, resolved)
  }
  return { parts: { tools, skills, profiles, warnings }, problems }
}

export function invalidAgent(name: unknown, problems: readonly string[]): StelloError {
  const list = problems.map((each) => `- ${each}`).join('\n')
  return new StelloError('INVALID_AGENT', `agent "${String(name)}" is not valid:\n${list}`, {
    hint: 'Correct the fields above in createStelloAgent({ … }), then start the worker again.',
  })
}
