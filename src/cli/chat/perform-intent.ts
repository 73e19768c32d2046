/** Carries out what a person has asked for in a chat. Every failure is told in a line, and the chat goes on. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isStelloError, isUnavailable, messageOf } from '../../core/errors.ts'
import type { InboxItem } from '../../client/index.ts'
import { withFiles } from './attached-files.ts'
import type { Room } from './chat-room.ts'
import type { Intent } from './chat-state.ts'
import { argumentsOf, editIn, ownEditor } from './edit-arguments.ts'
import { withText } from './editor.ts'
import { performSlash } from './perform-slash.ts'

/** Milliseconds between tries to reach servers that are away. */
const AGAIN_MS = 1000

export async function performIntent(room: Room, intent: Intent): Promise<void> {
  try {
    await perform(room, intent)
  } catch (error) {
    if (!room.signal.aborted) room.chat.note(toldOf(error))
  }
}

/** An error as a line. */
export function toldOf(error: unknown): string {
  const hint = isStelloError(error) && error.hint !== undefined ? ` (${error.hint})` : ''
  return `${messageOf(error)}${hint}`
}

async function perform(room: Room, intent: Intent): Promise<void> {
  const { stello, chat } = room
  const session = stello.session(chat.state.sessionId)
  switch (intent.do) {
    case 'send':
      return send(room, intent.text)
    case 'command':
      return performSlash(room, intent.name, intent.rest)
    case 'answer':
      return stello.session(intent.item.sessionId).answer(idOf(intent.item), intent.answer)
    case 'edit':
      return edit(room, intent.item)
    case 'resume':
      return void (await stello.session(intent.sessionId).resume())
    case 'switch':
      return room.turnTo(intent.sessionId)
    case 'cancel':
      chat.note('cancels the turn that runs')
      return void (await session.cancelTurn())
    case 'expand':
      return performSlash(room, 'expand', '')
    case 'tell':
      return chat.note(intent.text)
    case 'leave':
      return room.leave()
  }
}

function idOf(item: InboxItem): string {
  return item.kind === 'paused' ? '' : item.id
}

/** The session queues what comes while a turn runs. The same id names the same message, so it may be sent again. */
async function send({ stello, chat, signal }: Room, typed: string): Promise<void> {
  const session = stello.session(chat.state.sessionId)
  let text: string
  try {
    text = await withFiles(typed, process.cwd())
  } catch (error) {
    chat.change((state) => (state.editor.text === '' ? { ...state, editor: withText(state.editor, typed) } : state))
    throw error
  }
  const messageId = randomUUID()
  chat.tell({ told: 'sent', messageId, text: typed })
  let isAway = false
  for (;;) {
    try {
      await session.send(text, { messageId })
      if (isAway) chat.note('the message was sent')
      return
    } catch (error) {
      if (!isUnavailable(error)) {
        chat.tell({ told: 'unsent', messageId })
        throw error
      }
      if (!isAway) chat.note(`the message is sent as soon as the servers are back: ${messageOf(error)}`)
      isAway = true
      await delay(AGAIN_MS, undefined, { signal })
    }
  }
}

async function edit({ stello, chat, lend }: Room, item: InboxItem): Promise<void> {
  const text = await argumentsOf(stello, item)
  const editor = ownEditor()
  const changed = editor === undefined ? text : await lend(() => editIn(editor, text))
  chat.change((state) => ({
    ...state,
    typing: { item, answer: { decision: 'approve' }, prompt: 'arguments', field: 'args' },
    editor: withText(state.editor, changed ?? text),
    hint: 'Enter approves the call with these arguments; Esc gives up',
  }))
}
