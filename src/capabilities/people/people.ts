/** The pack of people: a model asks the person whom it works for. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { toWaitMs, type Duration } from '../../core/duration.ts'
import type { Tool } from '../../tool/tool.ts'
import { askUserQuestionTool } from './ask-user-question.ts'

/** Options of the pack. */
export interface PeopleOptions {
  /**
   * How long a question waits: milliseconds, or text such as `'2 days'`, at most a year. Then the model reads that nobody has
   * answered, and decides itself. Unset: for ever.
   */
  expiresIn?: Duration
}

/**
 * The tool AskUserQuestion. Its questions wait in the inbox, without a worker, until a person has answered.
 *
 * @throws StelloError INVALID_ARGUMENT when `expiresIn` is not a duration of 1 ms to 1 year
 * @example
 * defineProfile({ id: 'coder', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [people()] })
 */
export function people({ expiresIn }: PeopleOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  if (expiresIn !== undefined) toWaitMs(expiresIn, 'people: expiresIn')
  return { name: 'people', tools: [askUserQuestionTool(expiresIn)] }
}
