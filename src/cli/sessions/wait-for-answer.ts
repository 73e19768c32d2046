/** Prints the result of a message: its id, or with `--wait` the answer and everything that holds it up. */
import type { InboxItem, SessionHandle, TurnHandle } from '../../client/index.ts'
import { heldUp } from '../../client/holdups.ts'
import { inboxLines } from '../output/format.ts'
import { untilInterrupted } from '../interrupted.ts'
import type { Context } from '../commands/command-context.ts'
import { keepNotingUnserved, noteUnservedOf } from './unserved.ts'
import { keepNotingWeather } from './weather-notes.ts'

export async function answer(
  context: Context,
  { session, turn }: { session: SessionHandle; turn: TurnHandle },
  { wait = false }: { wait?: boolean },
): Promise<void> {
  const { out } = context
  const sent = { sessionId: session.id, messageId: turn.messageId }
  if (!wait) {
    out.result(sent, `sent as ${turn.messageId}`)
    return noteUnservedOf(context, session)
  }
  const signal = untilInterrupted()
  const answered = new AbortController()
  const over = AbortSignal.any([signal, answered.signal])
  const noting = Promise.all([keepNotingUnserved(context, session, over), keepNotingWeather(context, session, over)])
  /** A pause ends the wait. A question does not: it may be answered while other sessions of the tree go on. */
  const onPause = (item: InboxItem): void => {
    if (item.kind === 'paused') throw heldUp(session.id, item)
    out.noteOf(item, (shown) => `waits for a person\n${inboxLines(shown)}`)
  }
  const result = await turn
    .result({ onPause, signal })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    .finally(() => answered.abort())
  await noting
  if (!result) {
    process.exitCode = 1
    return out.note(`no longer waiting; the turn goes on, and \`stello transcript ${session.id}\` shows its answer`)
  }
  out.result({ ...sent, ...result }, result.text)
  if (result.stopReason !== 'end_turn' && result.stopReason !== 'completed') out.note(`(${result.stopReason})`)
}
