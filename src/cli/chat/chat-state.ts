/** Everything that a chat knows, and what a key press may ask for. */
import type { AnswerOptions, InboxItem, SessionTree } from '../../client/index.ts'
import type { Row } from './answer-panel.ts'
import type { Conversation } from './chat-conversation.ts'
import type { Editor } from './editor.ts'
import type { SlashName } from './slash-commands.ts'

/** A list to choose from, above the line. */
export interface Panel {
  /** What the rows are about; unset: the sessions of the tree. */
  item?: InboxItem
  rows: readonly Row[]
  at: number
  chosen: readonly string[]
  /** Milliseconds: a key that was meant for something else must not answer. */
  openedAt: number
}

/** What is typed is no message but a part of an answer. */
export interface Typing {
  item: InboxItem
  answer: AnswerOptions
  prompt: string
  field: 'text' | 'values' | 'args'
}

export interface ChatState {
  sessionId: string
  conversation: Conversation
  editor: Editor
  panel?: Panel
  typing?: Typing
  /** Items that a person has put off: they are not shown by themselves again. */
  later: readonly string[]
  /** The session and those below, as last seen. */
  tree?: SessionTree
  inbox: readonly InboxItem[]
  /** No worker serves the agent. */
  unserved: boolean
  /** When Ctrl-C was pressed, in milliseconds. */
  interruptedAt?: number
  /** What is told below the line, until the next key. */
  hint?: string
}

/** What a key press wants done outside. */
export type Intent =
  | { do: 'send'; text: string }
  | { do: 'command'; name: SlashName; rest: string }
  | { do: 'answer'; item: InboxItem; answer: AnswerOptions }
  | { do: 'edit'; item: InboxItem }
  /** The line is written on in an editor. */
  | { do: 'compose' }
  /** The path before the cursor is completed. */
  | { do: 'complete' }
  | { do: 'resume'; sessionId: string }
  | { do: 'switch'; sessionId: string }
  | { do: 'cancel' }
  | { do: 'expand' }
  | { do: 'tell'; text: string }
  | { do: 'leave' }

/** What happens next: the state, and what is to be done. */
export type Pressed = readonly [ChatState, ...Intent[]]
