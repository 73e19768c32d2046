/** A chat on a terminal: follows the session, draws it, reads keys, until the person leaves. The session goes on. */
import { setTimeout as delay } from 'node:timers/promises'
import type { StelloClient } from '../../client/index.ts'
import { keepHistory, loadHistory } from './chat-history.ts'
import { createChat, type Chat } from './create-chat.ts'
import { followSession } from './follow-session.ts'
import type { Room, Unsent } from './chat-room.ts'
import { performIntent } from './perform-intent.ts'
import { openScreen, type Screen } from './screen.ts'
import { readKeys } from './terminal-keys.ts'

/** Signals that end a chat from outside: of service managers, and of a window that is closed. */
const SIGNALS = ['SIGTERM', 'SIGHUP'] as const

/** How long something that is being sent may still take when the chat is left. Milliseconds. */
const LEAVE_MS = 2000

/** How a chat was left. */
export interface Left {
  /** The session that it has shown last. */
  sessionId: string
  /** Messages that the servers were not there for. */
  unsent: Unsent[]
}

/** @param isNew nothing was said in the session yet */
export async function runChat(stello: StelloClient, sessionId: string, { isNew }: { isNew: boolean }): Promise<Left> {
  const over = new AbortController()
  let screen: Screen | undefined
  const chat: Chat = createChat(sessionId, await loadHistory(), () => screen?.draw())
  let following = new AbortController()
  const follow = (fresh: boolean): void => {
    following.abort()
    following = new AbortController()
    const signal = AbortSignal.any([following.signal, over.signal])
    screen?.catchUp(fresh)
    void followSession(stello, chat, { isNew: fresh, signal, heard: () => screen?.heard() })
  }
  const room: Room = {
    stello,
    chat,
    signal: over.signal,
    leave: () => over.abort(),
    unsent: new Map(),
    turnTo(next) {
      chat.turnTo(next)
      chat.note(`── ${next} ──`)
      follow(false)
    },
    lend: (work) => (screen ? screen.lend(() => keys.lend(work)) : work()),
  }
  const atWork = new Set<Promise<void>>()
  const leave = (): void => over.abort()
  for (const signal of SIGNALS) process.once(signal, leave)
  // This comes before anything is drawn. Otherwise the terminal would read early keys in its own way, and Enter as another key.
  const keys = readKeys((key) => {
    for (const intent of chat.press(key)) {
      const doing = performIntent(room, intent).finally(() => atWork.delete(doing))
      atWork.add(doing)
    }
  })
  try {
    screen = openScreen(chat)
    chat.note(`${sessionId}: /help shows commands and keys, Ctrl-D leaves, and the session goes on`)
    follow(isNew)
    await delay(2 ** 31 - 1, undefined, { signal: over.signal }).catch(() => undefined)
    keys.stop()
    await endOf(atWork)
  } finally {
    keys.stop()
    screen?.close()
    for (const signal of SIGNALS) process.off(signal, leave)
    await keepHistory(chat.state.editor.history)
  }
  return { sessionId: chat.state.sessionId, unsent: [...room.unsent.values()] }
}

async function endOf(work: ReadonlySet<Promise<void>>): Promise<void> {
  const late = new AbortController()
  const wait = delay(LEAVE_MS, undefined, { signal: late.signal }).catch(() => undefined)
  await Promise.race([Promise.all(work), wait])
  late.abort()
}
