/** The parts of a chat that intents and slash commands act on. */
import type { StelloClient } from '../../client/index.ts'
import type { Chat } from './create-chat.ts'

/** A message of a person. */
export interface Unsent {
  sessionId: string
  text: string
}

export interface Room {
  stello: StelloClient
  chat: Chat
  /** Shows another session from here on. */
  turnTo(sessionId: string): void
  leave(): void
  /** Another program has the terminal meanwhile. */
  lend<T>(work: () => Promise<T>): Promise<T>
  /** Messages that no session is known to have, by their ids. */
  unsent: Map<string, Unsent>
  /** Ends with the chat. */
  signal: AbortSignal
}
