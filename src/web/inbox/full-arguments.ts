/** The whole arguments of a call that waits. The item holds only their beginning; the transcript holds them whole. */
import { api } from '../server/api.ts'
import { indented, readJsonObject } from './json-object.ts'
import type { RecordsPage } from '../server/wire.ts'
import type { WaitingQuestion } from './card-props.ts'

/** The call is in the last answer of the model, or close before it. */
const LAST_RECORDS = 60

/** @returns JSON, indented @throws an error when the call is not found: without arguments it would be another call */
export async function fullArguments({ sessionId, callId, preview }: WaitingQuestion): Promise<string> {
  if (readJsonObject(preview).ok) return indented(preview)
  for (let from: number | undefined = -LAST_RECORDS; from !== undefined;) {
    const { records, next }: RecordsPage = await api.records(sessionId, { from, limit: LAST_RECORDS })
    const call = records.flatMap(({ message }) => message.toolCalls ?? []).findLast(({ id }) => id === callId)
    if (call) return indented(call.arguments)
    from = next
  }
  throw new Error('the arguments of the call cannot be read; approve it as it is, or deny it')
}
