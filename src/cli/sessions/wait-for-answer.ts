/** Prints the result of a message: its id, or with `--wait` the answer and everything that holds it up. */
import { setTimeout as delay } from 'node:timers/promises'
import type { InboxItem, SessionHandle, TurnHandle } from '../../client/index.ts'
import { heldUp } from '../../client/holdups.ts'
import { inboxLines, weatherText } from '../output/format.ts'
import { untilInterrupted } from '../interrupted.ts'
import type { Context } from '../commands/command-context.ts'
import { keepNotingUnserved, noteUnservedOf } from './unserved.ts'

/** Milliseconds between looks at whether a provider is away. */
const LOOK_EVERY_MS = 2000

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

/**
 * Tells a person who waits for an answer that a provider is away, once in an outage. Ends with the signal. Never fails:
 * these are only remarks.
 */
async function keepNotingWeather({ out }: Context, session: SessionHandle, signal: AbortSignal): Promise<void> {
  let told: string | undefined
  while (!signal.aborted) {
    const weather = await session.state().then(
      (state) => state.weather,
      () => undefined,
    )
    const outage = weather && `${weather.provider} ${weather.since.toISOString()}`
    if (weather && outage !== told) {
      told = outage
      out.noteOf(weather, (shown) => `${weatherText(shown)}; it goes on by itself`)
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}
