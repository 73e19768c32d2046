/** The path of a file behind an `@`, in the line that a person types. Pure. */
import { typed, type Editor } from './editor.ts'

/** The part of the path before the cursor. Undefined: there is no path. */
export function pathBefore({ text, cursor }: Editor): string | undefined {
  const [, , quoted, plain] = /(^|\s)@(?:"([^"\n]*)|([^\s"]*))$/.exec(text.slice(0, cursor)) ?? []
  return quoted ?? plain
}

/** The line with another path in the place of the one before the cursor. @param isWhole nothing can follow it */
export function withPath(editor: Editor, path: string, isWhole: boolean): Editor {
  const before = editor.text.slice(0, editor.cursor)
  const start = before.search(/@(?:"[^"\n]*|[^\s"]*)$/)
  const name = /\s/.test(path) ? `@"${path}${isWhole ? '"' : ''}` : `@${path}`
  const rest = { ...editor, text: editor.text.slice(editor.cursor), cursor: 0 }
  return typed(rest, `${before.slice(0, start)}${name}${isWhole ? ' ' : ''}`)
}
