/** A server's question to the user (elicitation), as a question to a person, and the answer as the server reads it. */
import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { isObject } from '../../core/is-object.ts'
import { fitAnswer } from '../../tool/fit-answer.ts'
import type { PersonAnswer, PersonQuestion } from '../../tool/person.ts'
import type { McpQuestionSettings } from './server-options.ts'

/** @param settings how long it waits; a default that does not fit the form is left out */
export function toQuestion(
  server: string,
  { message, requestedSchema }: ElicitRequestFormParams,
  { expiresIn, default: values }: McpQuestionSettings = {},
): PersonQuestion {
  const schema = { ...requestedSchema }
  const fits = values !== undefined && fitAnswer({ schema }, { text: '', values }).ok
  return {
    header: `MCP server ${server}`,
    message,
    schema,
    ...(expiresIn !== undefined && { expiresIn }),
    ...(fits && { default: { values } }),
  }
}

/** A person who gave no values has declined to fill in the form. */
export function toElicitResult({ values }: PersonAnswer): ElicitResult {
  return isObject(values)
    ? { action: 'accept', content: values as NonNullable<ElicitResult['content']> }
    : { action: 'decline' }
}
