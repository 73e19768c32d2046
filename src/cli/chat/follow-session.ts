/** Tells a chat what happens in its session, and what it looks like around it, for as long as it is shown. Never rejects. */
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../core/errors.ts'
import type { StelloClient, StelloEvent } from '../../client/index.ts'
import type { Chat } from './create-chat.ts'

/** Milliseconds between two looks at the tree and what waits in it. */
const LOOK_EVERY_MS = 1000
/** Inherited records that are shown. */
const INHERITED = 20
/** After these, it looks at once. */
const CHANGING: readonly StelloEvent['type'][] = [
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
  const look = lookingAround(stello, chat, session.id, signal)
  const onAway = (error: Error): void => {
    look.away()
    chat.note(`the store is away; the chat goes on when it is back: ${messageOf(error)}`)
  }
  try {
    if (!isNew) await showInherited(stello, chat)
    for await (const event of session.watch({ signal, onAway })) {
      if (signal.aborted) return
      chat.tell(event)
      heard()
      if (CHANGING.includes(event.type)) look.now()
    }
  } catch (error) {
    if (!signal.aborted) chat.note(`the session can no longer be shown: ${messageOf(error)}`)
  }
}

/** A fork begins with what it has inherited: its own events do not tell that. */
async function showInherited(stello: StelloClient, chat: Chat): Promise<void> {
  const session = stello.session(chat.state.sessionId)
  const { parentId, records } = await session.state()
  if (parentId === undefined) return
  const transcript = await session.transcript()
  const inherited = transcript.slice(0, Math.max(0, transcript.length - records))
  if (inherited.length > INHERITED) chat.note(`${inherited.length} records are inherited; /transcript shows all`)
  for (const { role, name, content } of inherited.slice(-INHERITED))
    chat.tell({ told: 'item', item: { kind: 'record', role: name ?? role, text: content } })
}

function lookingAround(
  stello: StelloClient,
  chat: Chat,
  sessionId: string,
  signal: AbortSignal,
): { now(): void; away(): void } {
  let wake = new AbortController()
  let isAway = false
  const look = async (): Promise<void> => {
    const [tree, inbox, served] = await Promise.all([
      stello.session(sessionId).tree(),
      stello.inbox(sessionId),
      stello.servedAgents(),
    ])
    if (signal.aborted) return
    chat.seen({ tree, inbox, unserved: !served.includes(tree.agent) })
    if (isAway) chat.note('the store is back')
    isAway = false
  }
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      wake = new AbortController()
      // The watch tells that the store is away.
      await look().catch(() => undefined)
      await delay(LOOK_EVERY_MS, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined)
    }
  }
  void keep()
  return { now: () => wake.abort(), away: () => (isAway = true) }
}
