/** Shows what a fork has inherited. No event of the fork tells it, and it is there only when a worker has opened the fork. */
import { setTimeout as delay } from 'node:timers/promises'
import type { RecordPage, SessionRecord, StelloClient } from '../../client/index.ts'
import { lookAgainMs } from '../output/look-pace.ts'
import { recordItem } from './chat-conversation.ts'
import type { Chat } from './create-chat.ts'

/** Inherited records that are shown. */
const INHERITED = 20

/**
 * Shows it as soon as it is there, once, until the signal fires.
 *
 * @returns looks at once; rejects when the store cannot be read, and may be called again
 */
export function showInherited(stello: StelloClient, chat: Chat, signal: AbortSignal): () => Promise<void> {
  let known: Promise<boolean> = Promise.resolve(false)
  const look = async (): Promise<void> => {
    known = known.catch(() => false).then(async (done) => done || signal.aborted || show(stello, chat, signal))
    await known
  }
  const keepLooking = async (): Promise<void> => {
    while (!signal.aborted && !(await known.catch(() => false))) {
      await delay(lookAgainMs(0, 'still'), undefined, { signal }).catch(() => undefined)
      await look().catch(() => undefined)
    }
  }
  void keepLooking()
  return look
}

/** @returns whether the session has records, and so was opened */
async function show(stello: StelloClient, chat: Chat, signal: AbortSignal): Promise<boolean> {
  const session = stello.session(chat.state.sessionId)
  let count = 0
  let shown: SessionRecord[] = []
  let isOpened = false
  for (let from: number | undefined = 0; from !== undefined;) {
    const { records, next }: RecordPage = await session.records({ from })
    isOpened ||= records.length > 0
    const inherited = records.filter(({ inheritedFrom }) => inheritedFrom !== undefined)
    count += inherited.length
    shown = [...shown, ...inherited].slice(-INHERITED)
    from = inherited.length === records.length ? next : undefined
  }
  if (signal.aborted) return true
  if (count > INHERITED) chat.note(`${count} records are inherited; /transcript shows all`)
  for (const { message } of shown) chat.tell({ told: 'item', item: recordItem(message) })
  return isOpened
}
