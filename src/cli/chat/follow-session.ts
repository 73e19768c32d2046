/** Tells a chat the events of its session, and the state of the tree around it, as long as it is shown. Never rejects. */
import { messageOf } from '../../core/errors.ts'
import type { StelloClient, StelloEvent } from '../../client/index.ts'
import type { Chat } from './create-chat.ts'
import { lookAround } from './look-around.ts'
import { showInherited } from './show-inherited.ts'

/** The end of a text that was cut. */
const CUT = '…'
/** After these events it looks around at once. */
const CHANGING: readonly StelloEvent['type'][] = [
  'turn.started',
  'pending.opened',
  'pending.closed',
  'session.forked',
  'session.paused',
  'turn.completed',
]

export interface Following {
  /** Nothing was said in the session yet. */
  isNew: boolean
  signal: AbortSignal
  /** Called with each event. */
  heard(): void
}

export async function followSession(
  stello: StelloClient,
  chat: Chat,
  { isNew, signal, heard }: Following,
): Promise<void> {
  const session = stello.session(chat.state.sessionId)
  const look = lookAround(stello, chat, signal)
  const onAway = (error: Error): void => {
    look.away()
    chat.note(`the store is away; the chat goes on when it is back: ${messageOf(error)}`)
  }
  try {
    const inherited = isNew ? undefined : showInherited(stello, chat, signal)
    await inherited?.()
    for await (const event of session.watch({ signal, onAway })) {
      if (signal.aborted) return
      if (event.type === 'turn.started') await inherited?.().catch(() => undefined)
      chat.tell(await wholeOf(stello, event))
      heard()
      if (CHANGING.includes(event.type)) look.now()
    }
  } catch (error) {
    if (!signal.aborted) chat.note(`the session can no longer be shown: ${messageOf(error)}`)
  }
}

/** An event holds only the beginning of a long text; its record holds the whole. */
async function wholeOf(stello: StelloClient, event: StelloEvent): Promise<StelloEvent> {
  if (event.type !== 'message.completed' || !event.data.text.endsWith(CUT)) return event
  const { sessionId, data } = event
  const record = await stello
    .session(sessionId)
    .record(data.seq)
    .catch(() => undefined)
  return record ? { ...event, data: { ...data, text: record.message.content } } : event
}
