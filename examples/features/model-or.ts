/** The model of these examples: OpenAI's with a key, else rules that show the same without one. */
import { openai, type ModelLike } from 'stello-temporal'
import { replyBy, scriptedModel, type Rule } from 'stello-temporal/testing'

export function modelOr(...rules: Rule[]): ModelLike {
  return process.env['OPENAI_API_KEY'] ? openai({ model: 'gpt-5.4-mini' }) : scriptedModel(replyBy(rules))
}
