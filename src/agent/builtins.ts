/** The runtime's own tools, as a model sees them. `route` says which code carries out a call. */
import { checkOf } from '../tool/check-arguments.ts'
import type { JsonSchema, ToolSpec } from '../core/model.ts'
import type { Skill } from '../core/skill.ts'
import type { Check } from '../tool/tool.ts'

export interface Builtin extends ToolSpec {
  /**
   * How a call is carried out: by one activity, by a child session whose answer is not awaited, or by one whose answer
   * is.
   */
  route: 'tool' | 'fork' | 'task'
  readonly check: Check
}

/** These win over a user tool of their name, and `allowedTools` does not remove them. */
export const STELLO_TOOLS: readonly string[] = ['activate_skill', 'stello_create_session']

/** All tools of the runtime. */
export const BUILTIN_NAMES: readonly string[] = [...STELLO_TOOLS, 'attempt_completion', 'new_task']

const text = (description: string): JsonSchema => ({ type: 'string', description })
const name = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description })

/**
 * `stello_create_session`: forks the session.
 *
 * @param profiles registered names; without any, `profile` and `vars` are not offered
 */
export function createSessionTool(profiles: readonly string[]): Builtin {
  return builtin({
    name: 'stello_create_session',
    description:
      'Create a child session for a topic of its own. It goes on independently: ' +
      'you get its sessionId back at once, not its answers.',
    parameters: object(
      {
        ...forkFields(profiles),
        prompt: text('First message of the child, said by the assistant'),
      },
      ['label'],
    ),
    route: 'fork',
  })
}

/** `new_task`: a fork with a first message whose answer is awaited. */
export function newTaskTool(profiles: readonly string[]): Builtin {
  return builtin({
    name: 'new_task',
    description: 'Delegate a task to a child session and wait for its answer, which is the result of this call.',
    parameters: object({ ...forkFields(profiles), message: name('The task, as the child reads it') }, [
      'label',
      'message',
    ]),
    route: 'task',
  })
}

/** `activate_skill`; undefined when no skill is visible. */
export function activateSkillTool(skills: readonly Skill[]): Builtin | undefined {
  if (skills.length === 0) return undefined
  const offered = skills.map((skill) => `- ${skill.name}: ${skill.description}`)
  return builtin({
    name: 'activate_skill',
    description: `Load a skill before you work on what it covers. Available skills:\n${offered.join('\n')}`,
    parameters: object(
      {
        name: { type: 'string', enum: skills.map((skill) => skill.name), description: 'Name of the skill' },
        offset: { type: 'integer', minimum: 0, description: 'To read on in a long skill: the characters read before' },
      },
      ['name'],
    ),
    readOnly: true,
    route: 'tool',
  })
}

/** `attempt_completion`: ends the turn with its result. */
export const attemptCompletionTool: Builtin = builtin({
  name: 'attempt_completion',
  description: 'End this turn with the final result, once the task is done.',
  parameters: object({ result: text('The result, complete: nothing can be added afterwards') }, ['result']),
  route: 'tool',
})

function forkFields(profiles: readonly string[]): Record<string, JsonSchema> {
  const fields = {
    label: name('Display name of the child session'),
    systemPrompt: text("System prompt of the child; left out: its profile's, else this session's"),
    context: {
      type: 'string',
      enum: ['none', 'inherit'],
      description: 'none (default): the child begins empty; inherit: it knows this conversation so far',
    },
  }
  if (profiles.length === 0) return fields
  return {
    ...fields,
    profile: { type: 'string', enum: [...profiles], description: 'Prepared configuration of the child' },
    vars: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: "Values for the variables of the profile's system prompt",
    },
  }
}

function object(properties: Record<string, JsonSchema>, required: string[]): JsonSchema {
  return { type: 'object', properties, required }
}

function builtin(definition: Omit<Builtin, 'check'>): Builtin {
  const { parameters } = definition
  return { ...definition, check: checkOf(parameters, parameters) }
}
