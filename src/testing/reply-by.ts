/** Chooses a reply by the end of the conversation. */
import { StelloError } from '../core/errors.ts'
import { preview, type Message } from '../core/message.ts'
import type { Reply, ScriptFunction, ScriptRequest } from './scripted-model.ts'

/**
 * Text or a pattern matches when the conversation ends with a user message that contains it. `{ tool }` matches when
 * the conversation ends with results and one of them is of that tool. A function decides by the last message.
 */
export type Matcher = string | RegExp | { tool: string } | ((last: Message, request: ScriptRequest) => boolean)

/** What to reply to which conversation. */
export type Rule = [matcher: Matcher, reply: Reply | ScriptFunction]

/**
 * Makes a script of rules: the first rule that matches gives the reply.
 *
 * @param rules each a matcher and a reply, or a function that makes the reply from the request
 * @returns a script for `scriptedModel`; a request that no rule matches throws MODEL_REFUSED_REQUEST
 * @example
 * const model = scriptedModel(replyBy([
 *   [/weather in Oslo/, { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }],
 *   [{ tool: 'get_weather' }, 'Take an umbrella.'],
 * ]))
 */
export function replyBy(rules: Rule[]): ScriptFunction {
  return (request) => {
    const last = request.messages.at(-1) ?? { role: 'user', content: '' }
    const rule = rules.find(([matcher]) => matches(matcher, last, request))
    if (!rule) {
      const end = `${last.role} '${preview(last.content, 80)}'`
      throw new StelloError(
        'MODEL_REFUSED_REQUEST',
        `none of the ${rules.length} rules matches; the conversation ends with ${end}`,
        {
          hint: 'add a rule; [() => true, reply] at the end matches everything',
        },
      )
    }
    const [, reply] = rule
    return typeof reply === 'function' ? reply(request) : reply
  }
}

function matches(matcher: Matcher, last: Message, request: ScriptRequest): boolean {
  if (typeof matcher === 'function') return matcher(last, request)
  if (typeof matcher === 'string') return last.role === 'user' && last.content.includes(matcher)
  // `search` always starts at 0. With the flags g and y, `test` would remember its last place.
  if (matcher instanceof RegExp) return last.role === 'user' && last.content.search(matcher) >= 0
  const { messages } = request
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1)
  return results.some(({ name }) => name === matcher.tool)
}
