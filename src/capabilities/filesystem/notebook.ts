/** Jupyter notebooks of format 4: their cells, as text and by name. */
import { isObject } from '../../core/is-object.ts'
import { Refusal } from './refusal.ts'

export interface Cell extends Record<string, unknown> {
  id?: string
  cell_type: string
  source: string | string[]
}

export interface Notebook {
  nbformat_minor: number
  cells: Cell[]
}

/** Longest text of one output, in UTF-16 units. */
const OUTPUT_LIMIT = 2000

/** @throws Refusal when the text is no notebook of format 4 */
export function parseNotebook(text: string, name: string): Notebook {
  const notebook = parsed(text)
  if (!isObject(notebook) || typeof notebook['nbformat'] !== 'number') {
    throw new Refusal(`${name} is no notebook: it is broken JSON, or lacks nbformat.`)
  }
  const { nbformat, nbformat_minor: minor, cells } = notebook
  if (nbformat !== 4) {
    throw new Refusal(
      `${name} is a notebook of format ${nbformat}; only format 4 is known (jupyter nbconvert makes it one).`,
    )
  }
  if (!Array.isArray(cells) || !cells.every(isCell)) throw new Refusal(`${name} is a notebook with broken cells.`)
  return { nbformat_minor: typeof minor === 'number' ? minor : 0, cells }
}

/** The position of the cell with that id; `cell-N`, counted from 0, names a cell without one. @throws Refusal */
export function findCell({ cells }: Notebook, id: string): number {
  const known = cells.findIndex((cell) => cell.id === id)
  const counted = Number(/^cell-(\d{1,6})$/.exec(id)?.[1] ?? NaN)
  const found = known >= 0 ? known : counted
  if (found >= 0 && found < cells.length) return found
  const names = cells.slice(0, 20).map(idOf).join(', ')
  throw new Refusal(`There is no cell ${id.slice(0, 100)}. ${names ? `Cells: ${names}` : 'The notebook has no cells.'}`)
}

export function idOf({ id }: Cell, index: number): string {
  return id ?? `cell-${index}`
}

export function sourceOf({ source }: Cell): string {
  return typeof source === 'string' ? source : source.join('')
}

/** A notebook as a model reads it: each cell with its id and its outputs. */
export function showNotebook({ cells }: Notebook): string {
  return cells
    .flatMap((cell, index) => [
      `<cell id="${idOf(cell, index)}" type="${cell.cell_type}">`,
      sourceOf(cell),
      '</cell>',
      ...outputsOf(cell).map((output) => `<output>\n${output}\n</output>`),
    ])
    .join('\n')
}

function outputsOf({ outputs }: Cell): string[] {
  const shown = Array.isArray(outputs) ? outputs.filter(isObject).map(showOutput) : []
  return shown.map((text) => (text.length > OUTPUT_LIMIT ? `${text.slice(0, OUTPUT_LIMIT)}… (output cut)` : text))
}

function showOutput({ text, data, ename, evalue }: Record<string, unknown>): string {
  if (ename !== undefined) return `${joined(ename)}: ${joined(evalue)}`
  if (text !== undefined) return joined(text)
  if (!isObject(data)) return ''
  return joined(data['text/plain'] ?? data['text/markdown'] ?? `[${Object.keys(data).join(', ')}]`)
}

function joined(text: unknown): string {
  return Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : JSON.stringify(text)
}

function isCell(cell: unknown): cell is Cell {
  if (!isObject(cell) || typeof cell['cell_type'] !== 'string') return false
  const { source, id } = cell
  const isText =
    typeof source === 'string' || (Array.isArray(source) && source.every((line) => typeof line === 'string'))
  return isText && (id === undefined || typeof id === 'string')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
