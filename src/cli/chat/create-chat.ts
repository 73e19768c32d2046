/** The state of a chat, and all that changes it: events, looks around, keys. The screen listens to it. Knows no terminal. */
import { stripVTControlCharacters } from 'node:util'
import type { InboxItem, SessionTree, StelloEvent } from '../../client/index.ts'
import { printable } from '../output/printable.ts'
import type { ChatState, Intent } from './chat-state.ts'
import { NEW_CONVERSATION, conversation, type Item, type Told } from './chat-conversation.ts'
import { EMPTY_EDITOR, type Key } from './editor.ts'
import { offered, pressKey } from './press-key.ts'

/** The findings of one look at the servers. */
export interface Around {
  tree: SessionTree
  inbox: InboxItem[]
  unserved: boolean
}

export interface Chat {
  readonly state: ChatState
  /** An event, or what the chat tells. Here all texts are made printable. */
  tell(happened: StelloEvent | Told): void
  note(text: string): void
  seen(around: Around): void
  press(key: Key): Intent[]
  /** Another session is shown from here on. */
  turnTo(sessionId: string): void
  /** Changes the typed line, or the list of choices. */
  change(how: (state: ChatState) => ChatState): void
}

export function createChat(sessionId: string, history: readonly string[], changed: () => void): Chat {
  let state: ChatState = {
    sessionId,
    conversation: NEW_CONVERSATION,
    editor: { ...EMPTY_EDITOR, history },
    later: [],
    inbox: [],
    unserved: false,
  }
  const set = (next: ChatState): void => {
    state = offered(next, Date.now())
    changed()
  }
  const tell = (happened: StelloEvent | Told): void =>
    set({ ...state, conversation: conversation(state.conversation, printable(happened)) })
  const item = (one: Item): void => tell({ told: 'item', item: one })
  return {
    get state() {
      return state
    },
    tell,
    // Colours of our own would be shown as the escape sequences of strangers are.
    note: (text) => item({ kind: 'note', text: stripVTControlCharacters(text) }),
    seen: (around) => set({ ...state, ...printable(around) }),
    press(key) {
      const [next, ...intents] = pressKey(state, key, Date.now())
      set(next)
      return intents
    },
    turnTo(next) {
      const { items } = state.conversation
      const { tree: _tree, panel: _panel, typing: _typing, ...rest } = state
      set({ ...rest, sessionId: next, inbox: [], conversation: { ...NEW_CONVERSATION, items } })
    },
    change: (how) => set(how(state)),
  }
}
