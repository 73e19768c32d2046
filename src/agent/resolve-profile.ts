/** A fork profile as a worker uses it: tools converted, limits complete. */
import { collectTools, type Collecting } from './collect-tools.ts'
import { StelloError } from '../core/errors.ts'
import { resolveCompaction, type Compaction } from './compaction-settings.ts'
import { resolveLimits } from './limit-settings.ts'
import type { Limits } from '../protocol/limits.ts'
import { profileProblem, type ForkProfile } from './profile.ts'
import type { Model } from '../core/model.ts'
import { toModel } from './to-model.ts'
import type { Skill } from '../core/skill.ts'
import type { Tool } from '../tool/tool.ts'
import { resolveWaits, type Waits } from './wait-settings.ts'

/** A fork profile whose tools, model and limits are ready for use. */
export interface ResolvedProfile extends ForkProfile {
  /** Its tools. Unset: the parent's. */
  tools?: readonly Tool[]
  /** Its model. Unset: the parent's. */
  llm?: Model
  /** How its sessions' conversations are made to fit; `with` unset: they are not. Unset: as the agent says. */
  compacts?: { with?: Compaction }
  /** The limits of a turn in its sessions. */
  limits: Limits
  /** How long its sessions wait, where neither model nor tool states something else. */
  waits: Waits
}

/** What the agent states, for what a profile leaves out. */
export interface OfAgent {
  limits: Limits
  waits: Waits
}

interface Surroundings extends Omit<Collecting, 'where'>, OfAgent {
  skills: ReadonlyMap<string, Skill>
  /** Names of all profiles. */
  profiles: readonly string[]
}

/** @throws StelloError INVALID_AGENT; problems of single tools go to `attempt` */
export function resolveProfile(
  name: string,
  profile: ForkProfile,
  { limits, waits, skills, profiles, attempt, warnings }: Surroundings,
): ResolvedProfile {
  const where = `profile "${name}": `
  const problem = profileProblem(profile)
  if (problem) throw new StelloError('INVALID_AGENT', `${where}${problem}`)
  for (const skill of profile.skills === 'inherit' ? [] : (profile.skills ?? [])) {
    if (!skills.has(skill)) warnings.push(`${where}skill "${skill}" is not registered`)
  }
  for (const other of profile.forksInto ?? []) {
    if (!profiles.includes(other)) warnings.push(`${where}forksInto names "${other}", which is not registered`)
  }
  const { tools, llm, compaction, ...rest } = profile
  const fits = compaction === undefined ? undefined : resolveCompaction(compaction, `${where}compaction`)
  return {
    ...rest,
    ...(compaction !== undefined && { compacts: fits ? { with: fits } : {} }),
    ...(llm !== undefined && { llm: toModel(llm, `${where}llm`) }),
    ...(tools && { tools: [...collectTools(tools, { where, attempt, warnings }).values()] }),
    limits: resolveLimits(profile, limits, where),
    waits: resolveWaits(profile, waits, where),
  }
}
