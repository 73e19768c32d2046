/** The registry of subagents under the name that Blade gives it. */
import { ForkProfileRegistryImpl } from './profile.ts'

/**
 * What `Task` finds its `subagent_type` in: the fork profiles of the agent.
 *
 * @example
 * const subagents = new SubagentRegistry()
 * subagents.register('reviewer', { systemPrompt: 'You review.', systemPromptMode: 'preset' })
 * createStelloAgent({ name: 'lead', llm, capabilities: { profiles: subagents, tools: await getBuiltinTools() } })
 */
export class SubagentRegistry extends ForkProfileRegistryImpl {}
