/** The effect of a key. Pure: everything outside is an intent. */
import { stripVTControlCharacters } from 'node:util'
import { isObject } from '../../core/is-object.ts'
import { keyOf } from '../../client/holdups.ts'
import type { InboxItem } from '../../client/index.ts'
import { rowsOf, type Row } from './answer-panel.ts'
import type { ChatState, Intent, Panel, Pressed, Typing } from './chat-state.ts'
import { edited, submitted, typed, withText, type Key } from './editor.ts'
import { pathBefore } from './named-path.ts'
import { completions, isSlash, readSlash } from './slash-commands.ts'

/** A second Ctrl-C within this time leaves. Milliseconds. */
export const TWICE_MS = 2000
/** How long a new panel ignores keys: they were meant for something else. Milliseconds. */
export const NEW_PANEL_MS = 500

/** @param now milliseconds */
export function pressKey(state: ChatState, key: Key, now: number): Pressed {
  const { hint: _hint, ...rest } = state
  if (key.name === 'paste') return pasted(rest, key.text ?? '')
  if (key.ctrl && key.name === 'c') return interrupted(rest, now)
  const { interruptedAt: _at, ...calm } = rest
  if (key.ctrl && key.name === 'o') return [calm, { do: 'expand' }]
  if (key.ctrl && key.name === 'd' && calm.editor.text === '' && !calm.typing) return [calm, { do: 'leave' }]
  if (calm.panel) return inPanel(calm, calm.panel, { key, now })
  if (key.name === 'escape') return [calm.typing ? withoutTyping(calm) : calm]
  if (key.ctrl && key.name === 'g') return [calm, { do: 'compose' }]
  if (key.name === 'tab') return completed(calm, now)
  if (key.name === 'return' || key.name === 'enter') return entered(calm, key)
  return [{ ...calm, editor: edited(calm.editor, key) ?? calm.editor }]
}

/** The oldest item that nobody has put off comes by itself, while nothing is being typed. */
export function offered(state: ChatState, now: number): ChatState {
  const { panel, inbox, ...rest } = state
  const isOpen = (item: InboxItem): boolean => inbox.some((one) => keyOf(one) === keyOf(item))
  const waiting = rest.typing && !isOpen(rest.typing.item) ? withoutTyping({ ...rest, inbox }) : { ...rest, inbox }
  if (panel && (!panel.item || isOpen(panel.item))) return { ...waiting, panel }
  if (waiting.editor.text !== '' || waiting.typing) return waiting
  const next = inbox.find((item) => item.kind !== 'paused' && !waiting.later.includes(keyOf(item)))
  return next ? { ...waiting, panel: panelOf(next, now) } : waiting
}

/**
 * Enter is meant for the text in the line, so a panel that has come up meanwhile is put away.
 *
 * @param typing what the text is a part of; unset: it is a message
 */
export function withLine(state: ChatState, text: string, typing?: Typing): ChatState {
  const { panel: _panel, ...rest } = state
  return { ...rest, editor: withText(rest.editor, text), ...(typing && { typing }) }
}

export function panelOf(item: InboxItem, now: number): Panel {
  return { item, rows: rowsOf(item), at: 0, chosen: [], openedAt: now }
}

function interrupted(state: ChatState, now: number): Pressed {
  if (state.interruptedAt !== undefined && now - state.interruptedAt < TWICE_MS) return [state, { do: 'leave' }]
  const { panel: _panel, typing: _typing, ...rest } = state
  const { turn, queue } = state.conversation
  const runs = turn !== undefined || queue.length > 0
  const after: ChatState = {
    ...rest,
    // The typed text can be brought back, if it was a message.
    editor: state.typing ? withText(state.editor, '') : submitted(state.editor),
    interruptedAt: now,
    later: putOff(state),
    hint: 'Ctrl-C again leaves; the session goes on',
  }
  return runs ? [after, { do: 'cancel' }] : [after]
}

function putOff({ later, panel, typing }: ChatState): readonly string[] {
  const item = panel?.item ?? typing?.item
  return item ? [...later, keyOf(item)] : later
}

function inPanel(state: ChatState, panel: Panel, { key, now }: { key: Key; now: number }): Pressed {
  const { panel: _closed, ...rest } = state
  const { rows, at, openedAt } = panel
  const to = (next: number): Pressed => [{ ...state, panel: { ...panel, at: (next + rows.length) % rows.length } }]
  if (key.name === 'up') return to(at - 1)
  if (key.name === 'down' || key.name === 'tab') return to(at + 1)
  if (key.name === 'escape') return [{ ...rest, later: putOff(state), hint: 'put off; /inbox shows it again' }]
  const isEnter = key.name === 'return' || key.name === 'enter'
  const nth = /^[1-9]$/.test(key.text ?? '') ? Number(key.text) - 1 : undefined
  const row = isEnter ? rows[at] : nth === undefined ? (key.name === 'space' ? rows[at] : undefined) : rows[nth]
  if (row) {
    if (now - openedAt < NEW_PANEL_MS) return [state]
    if (key.name === 'space' && row.choice.to !== 'toggle') return [state]
    return chosen(state, panel, row)
  }
  if (isEnter || nth !== undefined) return [state]
  // A person who types wants to write a line. A letter never answers the question.
  return [
    {
      ...rest,
      later: putOff(state),
      editor: edited(state.editor, key) ?? state.editor,
      hint: 'put off; /inbox shows it again',
    },
  ]
}

function chosen(state: ChatState, panel: Panel, { choice }: Row): Pressed {
  const { panel: _closed, ...rest } = state
  if (choice.to === 'switch') return [rest, { do: 'switch', sessionId: choice.sessionId }]
  const { item } = panel
  if (!item) return [rest]
  switch (choice.to) {
    case 'answer':
      return [rest, { do: 'answer', item, answer: choice.answer }]
    case 'resume':
      return [rest, { do: 'resume', sessionId: item.sessionId }]
    case 'edit':
      return [rest, { do: 'edit', item }]
    case 'type': {
      const { answer, prompt, field } = choice
      return [{ ...rest, typing: { item, answer, prompt, field } }]
    }
    case 'toggle': {
      const { option } = choice
      const now = panel.chosen.includes(option)
        ? panel.chosen.filter((one) => one !== option)
        : [...panel.chosen, option]
      return [{ ...rest, panel: { ...panel, chosen: now, rows: rowsOf(item, now) } }]
    }
    case 'chosen':
      return [rest, { do: 'answer', item, answer: { decision: 'answer', text: panel.chosen.join(', ') } }]
  }
}

function withoutTyping({ typing: _typing, ...rest }: ChatState): ChatState {
  return { ...rest, editor: withText(rest.editor, '') }
}

function completed(state: ChatState, now: number): Pressed {
  const { editor, inbox } = state
  const [first] = completions(editor.text)
  if (first) return [{ ...state, editor: withText(editor, `/${first.name}${first.takes === undefined ? '' : ' '}`) }]
  if (pathBefore(editor) !== undefined) return [state, { do: 'complete' }]
  const [waiting] = inbox
  return [editor.text === '' && waiting && !state.typing ? { ...state, panel: panelOf(waiting, now) } : state]
}

function entered(state: ChatState, key: Key): Pressed {
  const { editor, typing } = state
  if (key.meta || key.name === 'enter') return [{ ...state, editor: typed(editor, '\n') }]
  if (editor.text.slice(0, editor.cursor).endsWith('\\')) {
    const without = {
      ...editor,
      text: editor.text.slice(0, editor.cursor - 1) + editor.text.slice(editor.cursor),
      cursor: editor.cursor - 1,
    }
    return [{ ...state, editor: typed(without, '\n') }]
  }
  const text = editor.text.trim()
  if (typing) return answered(state, typing, text)
  if (text === '') return [state]
  if (!isSlash(text))
    return [
      { ...state, editor: submitted(editor) },
      { do: 'send', text },
    ]
  const read = readSlash(text)
  return [
    { ...state, editor: submitted(editor) },
    typeof read === 'string' ? { do: 'tell', text: read } : { do: 'command', ...read },
  ]
}

function answered(state: ChatState, { item, answer, field }: Typing, text: string): Pressed {
  const done = withoutTyping(state)
  const send = (more: object): Intent => ({ do: 'answer', item, answer: { ...answer, ...more } })
  if (field === 'text') return [done, send(text === '' ? {} : { text })]
  const value = parsed(text)
  return isObject(value)
    ? [done, send({ [field]: value })]
    : [{ ...state, hint: 'that is no JSON object, e.g. {"region": "eu"}; Esc gives up' }]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A paste is text, whatever it contains: none of its lines is sent by itself, and nothing invisible is sent. */
function pasted(state: ChatState, paste: string): Pressed {
  const { panel, ...rest } = state
  const text = stripVTControlCharacters(paste.replace(/\r\n?/g, '\n')).replace(/[^\P{Cc}\n\t]/gu, '')
  const path = /^(['"]?)(\/[^\n]+)\1$/.exec(text.trim())?.[2]
  const shown =
    path === undefined || !/\.[\w]+$/.test(path)
      ? text
      : `@${/\s/.test(path) ? `"${path.replaceAll('\\ ', ' ')}"` : path} `
  return [{ ...rest, editor: typed(rest.editor, shown), later: panel ? putOff(state) : state.later }]
}
