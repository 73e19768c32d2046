/** A server's question to the user (elicitation), as a question to a person, and the answer as the server reads it. */
import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { isObject } from '../../core/is-object.ts'
import type { PersonAnswer, PersonQuestion } from '../../tool/person.ts'

export function toQuestion(server: string, { message, requestedSchema }: ElicitRequestFormParams): PersonQuestion {
  return { header: `MCP server ${server}`, message, schema: { ...requestedSchema } }
}

/** A person who gave no values has declined to fill in the form. */
export function toElicitResult({ values }: PersonAnswer): ElicitResult {
  return isObject(values)
    ? { action: 'accept', content: values as NonNullable<ElicitResult['content']> }
    : { action: 'decline' }
}
