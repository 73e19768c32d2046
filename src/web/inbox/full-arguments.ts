/** The whole arguments of a call that waits. The item holds only their beginning; the transcript holds them whole. */
import { api } from '../api.ts'
import { indented, readJsonObject } from './json-object.ts'
import type { WaitingQuestion } from './card-props.ts'

/** The call is in the last answer of the model, or close before it. */
const LAST_RECORDS = 60

/** @returns JSON, indented; `{}` when the transcript has no such call any more */
export async function fullArguments({ sessionId, callId, preview }: WaitingQuestion): Promise<string> {
  if (readJsonObject(preview).ok) return indented(preview)
  const { records } = await api.records(sessionId, { from: -LAST_RECORDS, limit: LAST_RECORDS })
  const calls = records.toReversed().flatMap(({ message }) => message.toolCalls ?? [])
  return indented(calls.find(({ id }) => id === callId)?.arguments ?? '{}')
}
