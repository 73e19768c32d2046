/** Whether a person's answer fits the question of a tool. It is checked where it is given, and again where it is taken. */
import { checkArguments } from './check-arguments.ts'
import type { PersonAnswer, PersonQuestion } from './person.ts'

export type Fitted = { ok: true; value: PersonAnswer } | { ok: false; problem: string }

/**
 * Values are repaired where the schema shows how, like the arguments of a call.
 *
 * @param given what the person said
 * @returns the answer as the tool gets it
 * @example fitAnswer({ schema }, { text: '', values: { age: '3' } }) // { ok: true, value: { text: '{"age":3}', values: { age: 3 } } }
 */
export function fitAnswer(
  { schema }: Pick<PersonQuestion, 'schema'>,
  { text, values, declined }: PersonAnswer,
): Fitted {
  if (declined) return { ok: true, value: { text, declined } }
  if (!schema) {
    if (values !== undefined) return { ok: false, problem: 'the question has no form: answer with a text' }
    return text.trim() === '' ? { ok: false, problem: 'the answer is empty' } : { ok: true, value: { text } }
  }
  if (values === undefined) return { ok: false, problem: 'the question has a form: answer with values that fit it' }
  const checked = checkArguments(schema, schema, values)
  if (!checked.ok) return { ok: false, problem: `the values do not fit the form of the question:\n${checked.problem}` }
  return { ok: true, value: { text: text || JSON.stringify(checked.value), values: checked.value } }
}
