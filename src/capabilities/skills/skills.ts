/** The pack of skills: instructions and tools that a model is shown only when it needs them. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { StelloError } from '../../core/errors.ts'
import type { Tool } from '../../tool/tool.ts'
import { discoverToolsTool } from './discover-tools.ts'
import { skillTool } from './skill-tool.ts'

/** Options of `skills`. */
export interface SkillsOptions {
  /**
   * Tools of the agent that the model is not shown until DiscoverTools has found them: their names, in which `*` stands
   * for any characters. Default: none.
   */
  defer?: readonly string[]
}

/**
 * The tools Skill and DiscoverTools. Skill loads the skills of the agent's registry, as `activate_skill` does.
 *
 * @throws StelloError INVALID_ARGUMENT when `defer` is no list of names
 * @example
 * defineProfile({
 *   id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' }, skills: router,
 *   capabilities: [skills({ defer: ['mcp__*', 'NotebookEdit'] })],
 * })
 */
export function skills({ defer = [] }: SkillsOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  if (!Array.isArray(defer) || defer.some((name) => typeof name !== 'string' || name === '')) {
    throw new StelloError('INVALID_ARGUMENT', "skills: defer must be a list of names of tools: ['mcp__*']")
  }
  return { name: 'skills', defers: [...defer], tools: [skillTool(), discoverToolsTool()] }
}
