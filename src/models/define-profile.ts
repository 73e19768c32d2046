/**
 * An agent written as in Agentrail: it names its model, and it has tools of its own beside packs of tools. The result
 * is an agent module.
 */
import { createStelloAgent, type AgentDefinition, type StelloAgent } from '../agent/agent.ts'
import type { CapabilityPack } from '../agent/capability-pack.ts'
import { isStelloError, StelloError } from '../core/errors.ts'
import type { ModelLike } from '../core/model.ts'
import type { AnyTool } from '../tool/any-tool.ts'
import { modelFromName } from './model-from-name.ts'

/** An agent as `defineProfile` takes it. */
export interface ProfileDefinition extends Omit<AgentDefinition, 'name' | 'llm' | 'systemPrompt' | 'capabilities'> {
  /** The agent's name, which is also its task queue. */
  id: string
  /** No effect: its name for people, which is not shown anywhere. */
  name?: string
  /** Its model, its prompt and its own tools. */
  agent: {
    /** `provider:model`, or a model. */
    model: string | ModelLike
    prompt?: string
    tools?: readonly AnyTool[]
  }
  /** Packs of tools. A tool of the agent replaces one of a pack that has its name. */
  capabilities?: readonly CapabilityPack[]
  /** Its skills: a registry. */
  skills?: NonNullable<AgentDefinition['capabilities']>['skills']
}

/**
 * An agent, written as in Agentrail.
 *
 * @returns an agent; not a fork profile, in spite of its name
 * @throws StelloError INVALID_AGENT
 * @example
 * export default defineProfile({
 *   id: 'default', name: 'Default Assistant',
 *   agent: { model: 'anthropic:claude-sonnet-5', prompt: 'You help.', tools: [lookup, ping] },
 *   capabilities: [{ tools: [search] }],
 * })
 */
export function defineProfile({
  id,
  name: _title,
  agent,
  capabilities: packs = [],
  skills,
  ...rest
}: ProfileDefinition): StelloAgent {
  const { model, prompt, tools = [] } = agent
  return createStelloAgent({
    ...rest,
    name: id,
    llm: typeof model === 'string' ? named(id, model) : model,
    ...(prompt !== undefined && { systemPrompt: prompt }),
    capabilities: { tools, packs, ...(skills && { skills }) },
  })
}

function named(id: string, model: string): ModelLike {
  try {
    return modelFromName(model)
  } catch (error) {
    if (!isStelloError(error)) throw error
    const { message, hint } = error
    throw new StelloError('INVALID_AGENT', `agent "${id}" is not valid:\n- model: ${message}`, {
      ...(hint !== undefined && { hint }),
      cause: error,
    })
  }
}
