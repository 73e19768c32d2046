/**
 * A provider that refuses a request for good refuses it in every later turn too, because what it means stays in the
 * transcript: neither a resume nor a cancel helps. A fork before that record does, so people are told its command.
 */
import { StelloError, toStelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Branch } from '../../protocol/config.ts'
import type { Database } from '../../store/database.ts'
import { placeBefore } from '../../store/records.ts'

/** A request that cannot be processed as it is. Other statuses are about the address or the settings. */
const ABOUT_THE_REQUEST: readonly unknown[] = [400, 422]

/**
 * @param last the last record that the model was shown
 * @param messages what it was shown, as far as it was read: the last is that record
 * @returns the error with the record that it means and the way out in its hint; every other error as it is
 */
export async function withWayOut(
  error: unknown,
  db: Database,
  last: Branch,
  messages: readonly Message[],
): Promise<unknown> {
  const known = toStelloError(error)
  if (known?.code !== 'MODEL_REFUSED_REQUEST' || !ABOUT_THE_REQUEST.includes(known.status)) return error
  // What stands before the messages, such as the system prompt, is no record.
  const find = async (behind: number): Promise<Branch | undefined> =>
    behind < messages.length ? placeBefore(db, last, behind) : undefined
  const named = await find(known.behind ?? messages.length)
  const place = named ?? (await find(messages.length - 1 - messages.findLastIndex(({ role }) => role === 'user')))
  if (!place) return error
  const { sessionId, seq } = place
  const means = named ? `it means record ${seq} of session ${sessionId}` : 'it does not say which record it means'
  const hint =
    `${means}; correct what is wrong with the name or the settings of the model, then resume; where they are right, every ` +
    `later turn is refused too: go on as if record ${seq} and what follows had not been said: stello fork ${sessionId} --before ${seq} --label "without record ${seq}"`
  return new StelloError(known.code, known.message, {
    hint,
    ...(known.status !== undefined && { status: known.status }),
  })
}
