/** A chat on a terminal: follows the session, draws it, reads keys, until the person leaves. The session goes on. */
import { setTimeout as delay } from 'node:timers/promises'
import type { StelloClient } from '../../client/index.ts'
import { keepHistory, loadHistory } from './chat-history.ts'
import { createChat, type Chat } from './create-chat.ts'
import { followSession } from './follow-session.ts'
import type { Room } from './chat-room.ts'
import { performIntent } from './perform-intent.ts'
import { openScreen, type Screen } from './screen.ts'
import { readKeys } from './terminal-keys.ts'

/** Signals that end a chat from outside: of service managers, and of a window that is closed. */
const SIGNALS = ['SIGTERM', 'SIGHUP'] as const

/** @param isNew nothing was said in the session yet */
export async function runChat(stello: StelloClient, sessionId: string, { isNew }: { isNew: boolean }): Promise<string> {
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
    turnTo(next) {
      chat.turnTo(next)
      chat.note(`── ${next} ──`)
      follow(false)
    },
    lend: (work) => (screen ? screen.lend(() => keys.lend(work)) : work()),
  }
  const leave = (): void => over.abort()
  for (const signal of SIGNALS) process.once(signal, leave)
  // Before anything is drawn: what is typed ahead would else be read in the terminal's own way, and Enter as another key.
  const keys = readKeys((key) => {
    for (const intent of chat.press(key)) void performIntent(room, intent)
  })
  try {
    screen = await openScreen(chat)
    chat.note(`${sessionId}: /help shows commands and keys, Ctrl-D leaves, and the session goes on`)
    follow(isNew)
    await delay(2 ** 31 - 1, undefined, { signal: over.signal }).catch(() => undefined)
  } finally {
    keys.stop()
    screen?.close()
    for (const signal of SIGNALS) process.off(signal, leave)
    await keepHistory(chat.state.editor.history)
  }
  return chat.state.sessionId
}
