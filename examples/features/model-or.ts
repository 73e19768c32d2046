/**
 * The model of these examples: a model of OpenAI if there is a key, otherwise rules that show the same without a key.
 */
import { openai, type ModelLike } from 'stello-temporal'
import { replyBy, scriptedModel, type Rule } from 'stello-temporal/testing'

export function modelOr(...rules: Rule[]): ModelLike {
  return process.env['OPENAI_API_KEY'] ? openai({ model: 'gpt-5.4-mini' }) : scriptedModel(replyBy(rules))
}
