/** Carries out what a person has asked for in a chat. Every failure becomes a line, and the chat goes on. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isStelloError, isUnavailable, messageOf } from '../../core/errors.ts'
import type { InboxItem, StelloClient } from '../../client/index.ts'
import { printable } from '../output/printable.ts'
import { withFiles } from './attached-files.ts'
import type { Room } from './chat-room.ts'
import type { Intent } from './chat-state.ts'
import { withText } from './editor.ts'
import { pathBefore, withPath } from './named-path.ts'
import { editIn, ownEditor } from './own-editor.ts'
import { commonBegin, pathsFrom } from './path-completion.ts'
import { performSlash } from './perform-slash.ts'
import { withLine } from './press-key.ts'

/** Milliseconds between tries to reach servers that are away. */
const AGAIN_MS = 1000
/** How many names are shown of the files that a path may become. */
const PATHS_SHOWN = 12
const NO_EDITOR = 'no editor is named: set VISUAL or EDITOR, for example EDITOR=vi'

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
  switch (intent.do) {
    case 'send':
      return send(room, intent.text)
    case 'command':
      return performSlash(room, intent.name, intent.rest)
    case 'answer':
      return stello.session(intent.item.sessionId).answer(idOf(intent.item), intent.answer)
    case 'edit':
      return edit(room, intent.item)
    case 'compose':
      return compose(room)
    case 'complete':
      return complete(room)
    case 'resume':
      return void (await stello.session(intent.sessionId).resume())
    case 'switch':
      return room.turnTo(intent.sessionId)
    case 'cancel':
      return performSlash(room, 'cancel', '')
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
async function send({ stello, chat, signal, unsent }: Room, typed: string): Promise<void> {
  const { sessionId } = chat.state
  const session = stello.session(sessionId)
  let text: string
  try {
    text = await withFiles(typed, process.cwd())
  } catch (error) {
    chat.change((state) => (state.editor.text === '' ? { ...state, editor: withText(state.editor, typed) } : state))
    throw error
  }
  const messageId = randomUUID()
  chat.tell({ told: 'sent', messageId, text: typed })
  unsent.set(messageId, { sessionId, text: typed })
  let isAway = false
  for (;;) {
    try {
      await session.send(text, { messageId })
      unsent.delete(messageId)
      if (isAway) chat.note('the message was sent')
      return
    } catch (error) {
      if (!isAwayError(error)) {
        unsent.delete(messageId)
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
  const changed = editor === undefined ? text : await lend(() => editIn(editor, text, 'arguments.json'))
  if (changed === undefined) chat.note(`the editor has failed: ${editor}`)
  chat.change((state) => ({
    ...withLine(state, changed ?? text, { item, answer: { decision: 'approve' }, prompt: 'arguments', field: 'args' }),
    hint: 'Enter approves the call with these arguments; Esc gives up',
  }))
}

/** The whole arguments of a call that waits for permission. The item shows only their beginning. */
async function argumentsOf(stello: StelloClient, item: InboxItem): Promise<string> {
  if (item.kind === 'paused') return '{}'
  const messages = await stello.session(item.sessionId).transcript()
  const call = messages.flatMap(({ toolCalls = [] }) => toolCalls).findLast(({ id }) => id === item.callId)
  const text = call?.arguments ?? item.preview
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** The line, in an editor that has room for more. */
async function compose({ chat, lend }: Room): Promise<void> {
  const editor = ownEditor()
  if (editor === undefined) return chat.change((state) => ({ ...state, hint: NO_EDITOR }))
  const text = await lend(() => editIn(editor, chat.state.editor.text, 'message.md'))
  if (text === undefined) return chat.note(`the editor has failed: ${editor}`)
  chat.change((state) => withLine(state, text))
}

/** Text that is typed meanwhile stays: the path is completed only where Tab was pressed. */
async function complete({ chat }: Room): Promise<void> {
  const { editor } = chat.state
  const path = pathBefore(editor)
  if (path === undefined) return
  const paths = await pathsFrom(path, process.cwd())
  const [first = ''] = paths
  const isWhole = paths.length === 1 && !first.endsWith('/')
  const more = paths.length > PATHS_SHOWN ? `  … ${paths.length - PATHS_SHOWN} more` : ''
  const hint = paths.length === 0 ? `no file begins with ${path}` : `${paths.slice(0, PATHS_SHOWN).join('  ')}${more}`
  chat.change((state) => {
    if (state.editor !== editor) return state
    const after = paths.length === 0 ? editor : withPath(editor, commonBegin(paths), isWhole)
    return { ...state, editor: after, ...(paths.length !== 1 && { hint: printable(hint) }) }
  })
}

/** The servers are away: another try may help. */
function isAwayError(error: unknown): boolean {
  return isUnavailable(error) || (isStelloError(error) && error.code === 'SERVER_UNREACHABLE')
}
