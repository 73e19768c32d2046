/** Everything that a chat knows, and what a key press may ask for. */
import type { AnswerOptions, InboxItem, SessionTree } from '../../client/index.ts'
import type { Row } from './answer-panel.ts'
import type { Conversation } from './chat-conversation.ts'
import type { Editor } from './editor.ts'
import type { SlashName } from './slash-commands.ts'

/** A list to choose from, above the line. */
export interface Panel {
  /** The item that the rows answer. Unset: the rows are the sessions of the tree. */
  item?: InboxItem
  rows: readonly Row[]
  at: number
  chosen: readonly string[]
  /** When the panel came, in milliseconds: a key that was meant for something else must not answer. */
  openedAt: number
}

/** The typed text is a part of an answer, not a message. */
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
  /** The hint below the line, until the next key. */
  hint?: string
}

/** An action outside of the state that a key press asks for. */
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

/** The result of a key press: the new state, and the actions. */
export type Pressed = readonly [ChatState, ...Intent[]]
