/** For models with native tool calls that do better when the system prompt describes the tools too. */
import type { Completion, Model, ModelLike } from '../../core/model.ts'
import { factsOf, fallbackOf, toModel } from '../../agent/to-model.ts'
import { generateToolsPrompt } from '../../agent/tools-prompt.ts'
import { addToSystem } from './add-to-system.ts'
import { noticed } from '../asked-around.ts'

/**
 * The same model, with `generateToolsPrompt` added to its system prompt in every call. The tools are sent as before.
 *
 * @example createStelloAgent({ name: 'research', llm: withToolsPrompt(openai({ model: 'gpt-5.4-mini' })) })
 */
export function withToolsPrompt(given: ModelLike): Model {
  const model = toModel(given, 'withToolsPrompt')
  const { name, maxToolRounds } = model
  return noticed({
    ...factsOf(model),
    ...fallbackOf(model, withToolsPrompt),
    name,
    ...(maxToolRounds !== undefined && { maxToolRounds }),
    complete(messages, options): Promise<Completion> {
      const tools = options?.tools ?? []
      return model.complete(tools.length > 0 ? addToSystem(messages, generateToolsPrompt(tools)) : messages, options)
    },
  })
}
