/** The built-in tools that are one activity: what `activate_skill` and `attempt_completion` answer. */
import type { StelloAgent } from '../../agent/agent.ts'
import { StelloError } from '../../core/errors.ts'
import type { CallEnd } from './tool-result.ts'

/** @param args checked against the built-in's own parameters, so the skill is one the session may see */
export function runBuiltin(name: string, args: unknown, agent: StelloAgent): CallEnd {
  const given = args as { name?: string; result?: string }
  switch (name) {
    case 'activate_skill': {
      const skill = agent.skills.get(given.name ?? '')
      return skill
        ? { value: skill.content }
        : { error: new StelloError('TOOL_NOT_FOUND', `unknown skill "${given.name}"`) }
    }
    case 'attempt_completion':
      return { value: given.result, endsTurn: true }
    default:
      return { error: new StelloError('TOOL_NOT_FOUND', `built-in tool "${name}" cannot be run here`) }
  }
}
