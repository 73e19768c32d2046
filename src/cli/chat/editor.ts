/** The line that a person types: its text, the cursor, and earlier lines. Pure. */

/** A key, as Node's readline names it, or `paste`. */
export interface Key {
  name?: string
  ctrl?: boolean
  meta?: boolean
  /** The text that the key types. */
  text?: string
}

export interface Editor {
  text: string
  /** Before which UTF-16 unit it stands. */
  cursor: number
  /** Messages typed before, oldest first. */
  history: readonly string[]
  /** Which of them is shown; `draft` was typed before that. */
  shown?: number
  draft?: string
}

export const EMPTY_EDITOR: Editor = { text: '', cursor: 0, history: [] }

export function withText({ history }: Editor, text: string): Editor {
  return { history, text, cursor: text.length }
}

/** The text is taken: the line is empty, and the text can be had back. */
export function submitted({ history, text }: Editor): Editor {
  const known = text.trim() === '' || history.at(-1) === text
  return { text: '', cursor: 0, history: known ? history : [...history, text] }
}

export function typed(editor: Editor, text: string): Editor {
  const { text: before, cursor, history } = editor
  return { history, text: before.slice(0, cursor) + text + before.slice(cursor), cursor: cursor + text.length }
}

/** @returns undefined: the key means nothing to a line of text */
export function edited(editor: Editor, key: Key): Editor | undefined {
  const move = moved(editor, key)
  if (move !== undefined) return { ...editor, cursor: move }
  const cut = removed(editor, key)
  if (cut)
    return { history: editor.history, text: editor.text.slice(0, cut[0]) + editor.text.slice(cut[1]), cursor: cut[0] }
  if (key.name === 'up' || key.name === 'down') return vertical(editor, key.name)
  if (key.ctrl || key.meta || !key.text || /^\p{Cc}/u.test(key.text)) return undefined
  return typed(editor, key.text)
}

/** The new place of the cursor. */
function moved({ text, cursor }: Editor, { name, ctrl, meta }: Key): number | undefined {
  const word = ctrl || meta
  if (name === 'left' || (ctrl && name === 'b'))
    return word && name === 'left' ? wordBefore(text, cursor) : cursor - before(text, cursor)
  if (name === 'right' || (ctrl && name === 'f'))
    return word && name === 'right' ? wordBehind(text, cursor) : cursor + behind(text, cursor)
  if (meta && name === 'b') return wordBefore(text, cursor)
  if (meta && name === 'f') return wordBehind(text, cursor)
  if (name === 'home' || (ctrl && name === 'a')) return lineStart(text, cursor)
  if (name === 'end' || (ctrl && name === 'e')) return lineEnd(text, cursor)
  return undefined
}

/** The part of the text that the key removes. */
function removed({ text, cursor }: Editor, { name, ctrl, meta }: Key): [number, number] | undefined {
  if ((ctrl && name === 'w') || (meta && name === 'backspace')) return [wordBefore(text, cursor), cursor]
  if (name === 'backspace') return [cursor - before(text, cursor), cursor]
  if (name === 'delete' || (ctrl && name === 'd')) return [cursor, cursor + behind(text, cursor)]
  if (ctrl && name === 'u') return [lineStart(text, cursor), cursor]
  if (ctrl && name === 'k') return [cursor, Math.max(lineEnd(text, cursor), cursor)]
  return undefined
}

/** A line up or down in the text; at its edge, an earlier or later message. */
function vertical(editor: Editor, to: 'up' | 'down'): Editor {
  const { text, cursor } = editor
  const start = lineStart(text, cursor)
  const end = lineEnd(text, cursor)
  const column = cursor - start
  if (to === 'up' && start > 0) {
    const above = lineStart(text, start - 1)
    return { ...editor, cursor: Math.min(above + column, start - 1) }
  }
  if (to === 'down' && end < text.length)
    return { ...editor, cursor: Math.min(end + 1 + column, lineEnd(text, end + 1)) }
  return recalled(editor, to)
}

function recalled(editor: Editor, to: 'up' | 'down'): Editor {
  const { history, shown = history.length, draft = editor.text } = editor
  const next = shown + (to === 'up' ? -1 : 1)
  if (next < 0 || next > history.length) return editor
  if (next === history.length) return withText(editor, draft)
  return { ...withText(editor, history[next] ?? ''), shown: next, draft }
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Length of the letter before: several units, where accents or emoji are joined. */
function before(text: string, cursor: number): number {
  return [...letters.segment(text.slice(Math.max(0, cursor - 64), cursor))].at(-1)?.segment.length ?? 0
}

function behind(text: string, cursor: number): number {
  const [letter] = letters.segment(text.slice(cursor, cursor + 64))
  return letter?.segment.length ?? 0
}

function wordBefore(text: string, cursor: number): number {
  return text.slice(0, cursor).replace(/\S*\s*$/, '').length
}

function wordBehind(text: string, cursor: number): number {
  return cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0)
}

function lineStart(text: string, cursor: number): number {
  return text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor)
  return end === -1 ? text.length : end
}
