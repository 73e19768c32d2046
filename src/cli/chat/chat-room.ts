/** What those who act on a chat are given. */
import type { StelloClient } from '../../client/index.ts'
import type { Chat } from './create-chat.ts'

export interface Room {
  stello: StelloClient
  chat: Chat
  /** Shows another session from here on. */
  turnTo(sessionId: string): void
  leave(): void
  /** Another program has the terminal meanwhile. */
  lend<T>(work: () => Promise<T>): Promise<T>
  /** Ends with the chat. */
  signal: AbortSignal
}
