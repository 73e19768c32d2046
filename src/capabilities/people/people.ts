/** The pack of people: what a model may ask the person it works for. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import type { Tool } from '../../tool/tool.ts'
import { askUserQuestionTool } from './ask-user-question.ts'

/**
 * The tool AskUserQuestion. Its questions wait in the inbox, without a worker, until a person has answered.
 *
 * @example
 * defineProfile({ id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [people()] })
 */
export function people(): CapabilityPack & { tools: readonly Tool[] } {
  return { name: 'people', tools: [askUserQuestionTool()] }
}
