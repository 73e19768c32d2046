/**
 * One change of a notebook's text. Everything but the changed cell stays as it is written, byte for byte: numbers, escapes,
 * the order of keys, indentation.
 */
import { findCell, parseNotebook, sourceOf, type Cell, type Notebook } from './notebook.ts'
import { Refusal } from './refusal.ts'

export interface CellChange {
  new_source: string
  cell_id?: string | undefined
  cell_type?: 'code' | 'markdown' | undefined
  edit_mode?: 'replace' | 'insert' | 'delete' | undefined
}

export interface ChangedNotebook {
  text: string
  /** The id of the changed or new cell. Unset: cells of this format have none. */
  id?: string
}

/** A notebook as it is written, and the name that the model reads. */
export interface NotebookFile {
  name: string
  text: string
}

interface Span {
  start: number
  end: number
}

/** @param newId of a cell that is inserted, where the format has ids @throws Refusal */
export function changeNotebook({ name, text }: NotebookFile, change: CellChange, newId: string): ChangedNotebook {
  const notebook = parseNotebook(text, name)
  const spans = cellSpans(text)
  if (spans.cells.length !== notebook.cells.length) throw new Refusal(`${name} names its cells in an unusual way.`)
  const { cell_id, edit_mode = 'replace' } = change
  if (edit_mode === 'insert') return insert({ text, notebook, spans }, change, newId)
  if (cell_id === undefined) throw new Refusal(`cell_id is needed to ${edit_mode} a cell.`)
  const at = findCell(notebook, cell_id)
  const cell = notebook.cells[at] as Cell
  const span = spans.cells[at] as Span
  const known = cell.id === undefined ? {} : { id: cell.id }
  if (edit_mode === 'replace') {
    return { ...known, text: splice(text, span, written(text, spans, replaced(cell, change))) }
  }
  const [before, after] = [spans.cells[at - 1], spans.cells[at + 1]]
  const removed = after
    ? { start: span.start, end: after.start }
    : before
      ? { start: before.end, end: span.end }
      : spans.list
  return { ...known, text: splice(text, removed, '') }
}

function insert(
  { text, notebook, spans }: { text: string; notebook: Notebook; spans: Spans },
  change: CellChange,
  newId: string,
): ChangedNotebook {
  const { cell_id, cell_type, new_source } = change
  if (cell_type === undefined) throw new Refusal('cell_type is needed to insert a cell.')
  const model = notebook.cells[0]
  const known = notebook.nbformat_minor >= 5 ? { id: newId } : {}
  const cell = replaced({ ...known, cell_type, metadata: {}, source: model?.source ?? [] }, { cell_type, new_source })
  const shown = written(text, spans, cell)
  const gap = gapBefore(text, spans)
  const [first] = spans.cells
  if (!first) return { ...known, text: splice(text, spans.list, `${gap}${shown}${gapBehind(text)}`) }
  if (cell_id === undefined) {
    return { ...known, text: splice(text, { start: first.start, end: first.start }, `${shown},${gap}`) }
  }
  const { end } = spans.cells[findCell(notebook, cell_id)] as Span
  return { ...known, text: splice(text, { start: end, end }, `,${gap}${shown}`) }
}

/** A cell with a new source has no outputs: they came from the old source. */
function replaced(cell: Cell, { new_source, cell_type = cell.cell_type as 'code' }: CellChange): Cell {
  const { outputs: _outputs, execution_count: _count, ...rest } = cell
  const source = typeof cell.source === 'string' ? new_source : new_source.split(/(?<=\n)/).filter(Boolean)
  const changed = { ...rest, cell_type, source }
  return cell_type === 'code' ? { ...changed, execution_count: null, outputs: [] } : changed
}

/** Whether a change was made. `false` also means that making it now has the intended effect. */
export function wasChanged({ name, text }: NotebookFile, change: CellChange, newId: string): boolean | undefined {
  const notebook = parseNotebook(text, name)
  const { cell_id, edit_mode = 'replace', new_source, cell_type } = change
  const has = (id: string | undefined): boolean => notebook.cells.some((cell) => cell.id === id)
  if (edit_mode === 'insert') return notebook.nbformat_minor >= 5 ? has(newId) : undefined
  const known = cell_id !== undefined && has(cell_id)
  if (edit_mode === 'delete') return known ? false : undefined
  if (!known) return undefined
  const cell = notebook.cells[findCell(notebook, cell_id)] as Cell
  return sourceOf(cell) === new_source && (cell_type ?? cell.cell_type) === cell.cell_type
}

interface Spans {
  /** The text between the brackets. */
  list: Span
  cells: Span[]
}

/** Where the cells stand in a text that is valid JSON. */
function cellSpans(text: string): Spans {
  const spans: Spans = { list: { start: 0, end: 0 }, cells: [] }
  let [depth, key, inside, start] = [0, '', false, -1]
  for (const { token, index } of tokensOf(text)) {
    if (token === '{' || token === '[') {
      if (inside && depth === 2) start = index
      if (depth === 1 && token === '[' && key === '"cells"') {
        inside = true
        spans.list = { start: index + 1, end: index + 1 }
        spans.cells = []
      }
      depth++
    } else if (token === '}' || token === ']') {
      depth--
      if (inside && depth === 2) spans.cells.push({ start, end: index + 1 })
      if (inside && depth === 1) {
        inside = false
        spans.list.end = index
      }
    } else if (depth === 1) {
      key = token === ',' ? '' : key || token
    }
  }
  return spans
}

/** Strings as a whole, brackets and commas. A string may have megabytes, so no pattern is matched over it. */
function* tokensOf(text: string): Generator<{ token: string; index: number }> {
  const marks = /["[\]{},]/g
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const { 0: token, index } = mark
    if (token !== '"') {
      yield { token, index }
      continue
    }
    let end = text.indexOf('"', index + 1)
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
    marks.lastIndex = end + 1
    yield { token: text.slice(index, end + 1), index }
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

function splice(text: string, { start, end }: Span, between: string): string {
  return text.slice(0, start) + between + text.slice(end)
}

/** The text before each cell: nothing, or a line end and its indentation. */
function gapBefore(text: string, { cells, list }: Spans): string {
  const [first] = cells
  if (first) return text.slice(list.start, first.start)
  const unit = unitOf(text)
  return unit === '' ? '' : `\n${unit}${unit}`
}

function gapBehind(text: string): string {
  const unit = unitOf(text)
  return unit === '' ? '' : `\n${unit}`
}

function unitOf(text: string): string {
  return /^\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? ''
}

function written(text: string, spans: Spans, cell: Cell): string {
  const indentation = /[^\n]*$/.exec(gapBefore(text, spans))?.[0] ?? ''
  return JSON.stringify(cell, null, unitOf(text)).replaceAll('\n', `\n${indentation}`)
}
