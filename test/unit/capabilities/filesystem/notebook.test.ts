/** Notebooks: shown as cells, changed cell by cell, and otherwise kept byte by byte. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changeNotebook, type CellChange } from '../../../../src/capabilities/filesystem/change-notebook.ts'
import { useFolder, version, type Folder } from '../folders.ts'

/** Written as Jupyter writes it, with details that a parser would write differently. */
const NOTEBOOK = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"note": "a \\"cells\\": [{ in a string"},
   "source": [
    "# Masts\\n",
    "of ships"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "count",
   "metadata": {},
   "outputs": [
    {
     "data": {"image/png": "iVBOR", "text/plain": ["2.0"]},
     "execution_count": 3,
     "metadata": {"ratio": 1.0, "big": 12345678901234567890},
     "output_type": "execute_result"
    },
    {"name": "stdout", "output_type": "stream", "text": ["two\\n"]}
   ],
   "source": "masts(\\"brig\\") # \\u2693"
  }
 ],
 "metadata": {"kernelspec": {"name": "python3"}, "cells": [1, 2]},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

const change = (text: string, of: Partial<CellChange>) =>
  changeNotebook({ name: 'a.ipynb', text }, { new_source: 'new', ...of }, 'new-id').text

const cellsOf = (text: string) =>
  (JSON.parse(text) as { cells: Record<string, unknown>[] }).cells.map(({ id, source }) => [id, source])

describe('Read', () => {
  it('shows cells with their ids and outputs', async () => {
    const { call } = useFolder({ 'a.ipynb': NOTEBOOK })
    const { text } = await call('Read', { file_path: 'a.ipynb' })
    expect(text.replaceAll(/^ *\d+→/gm, '')).toEqual(
      version(
        [
          '^<cell id="intro" type="markdown">\n# Masts\nof ships\n</cell>',
          '<cell id="count" type="code">\nmasts\\("brig"\\) # ⚓\n</cell>',
          '<output>\n2.0\n</output>\n<output>\ntwo\n\n</output>\n\\[a.ipynb: lines 1-14 of 14',
        ].join('\n'),
      ),
    )
    expect((await call('Read', { file_path: 'a.ipynb', offset: 3, limit: 1 })).text).toMatch(/^ {5}3→of ships\n/)
  })

  it.each(['{"nbformat": 3, "worksheets": []}', '{ broken'])('shows %s as text', async (text) => {
    const { call } = useFolder({ 'a.ipynb': text })
    expect((await call('Read', { file_path: 'a.ipynb' })).text).toContain(text)
  })
})

describe('a change', () => {
  it('of a code cell removes its outputs, and leaves every other byte', () => {
    const after = change(NOTEBOOK, { cell_id: 'count', new_source: 'x = "$&"' })
    const start = NOTEBOOK.indexOf('  {\n   "cell_type": "code"')
    const end = NOTEBOOK.indexOf('\n ],\n "metadata"')
    expect(after.slice(0, start)).toBe(NOTEBOOK.slice(0, start))
    expect(after.endsWith(NOTEBOOK.slice(end))).toBe(true)
    expect(after.slice(start, after.length - (NOTEBOOK.length - end))).toBe(`  {
   "cell_type": "code",
   "id": "count",
   "metadata": {},
   "source": "x = \\"$&\\"",
   "execution_count": null,
   "outputs": []
  }`)
  })

  it('keeps a source that is a list of lines as a list', () => {
    expect(cellsOf(change(NOTEBOOK, { cell_id: 'intro', new_source: 'a\n\nb\n' }))[0]).toEqual([
      'intro',
      ['a\n', '\n', 'b\n'],
    ])
    expect(cellsOf(change(NOTEBOOK, { cell_id: 'intro', new_source: '' }))[0]).toEqual(['intro', []])
  })

  it('inserts at the start, after a cell, and into an empty notebook', () => {
    const insert = { edit_mode: 'insert', cell_type: 'markdown' } as const
    const ids = (text: string) => cellsOf(text).map(([id]) => id)
    expect(ids(change(NOTEBOOK, insert))).toEqual(['new-id', 'intro', 'count'])
    expect(ids(change(NOTEBOOK, { ...insert, cell_id: 'intro' }))).toEqual(['intro', 'new-id', 'count'])
    expect(ids(change(NOTEBOOK, { ...insert, cell_id: 'cell-1' }))).toEqual(['intro', 'count', 'new-id'])
    const empty = '{\n "cells": [],\n "nbformat": 4,\n "nbformat_minor": 2\n}\n'
    expect(change(empty, insert)).toBe(
      '{\n "cells": [\n  {\n   "cell_type": "markdown",\n   "metadata": {},\n   "source": [\n    "new"\n   ]\n  }\n ],\n "nbformat": 4,\n "nbformat_minor": 2\n}\n',
    )
    expect(change('{"cells":[],"nbformat":4}', insert)).toBe(
      '{"cells":[{"cell_type":"markdown","metadata":{},"source":["new"]}],"nbformat":4}',
    )
  })

  it('deletes the first, the last and the only cell', () => {
    const remove = { edit_mode: 'delete' } as const
    const last = change(NOTEBOOK, { ...remove, cell_id: 'intro' })
    expect(cellsOf(last)).toEqual([['count', 'masts("brig") # ⚓']])
    expect(cellsOf(change(NOTEBOOK, { ...remove, cell_id: 'count' }))).toHaveLength(1)
    expect(change(last, { ...remove, cell_id: 'count' })).toMatch(/^\{\n "cells": \[\],\n "metadata"/)
  })

  it('turns code into text and back', () => {
    const text = change(NOTEBOOK, { cell_id: 'count', cell_type: 'markdown' })
    expect(JSON.parse(text).cells[1]).toEqual({ cell_type: 'markdown', id: 'count', metadata: {}, source: 'new' })
    expect(JSON.parse(change(text, { cell_id: 'count', cell_type: 'code' })).cells[1]).toMatchObject({ outputs: [] })
  })

  it.each([
    ['another format', '{"nbformat": 3, "worksheets": []}', {}, 'of format 3; only format 4'],
    ['broken JSON', '{ broken', {}, 'broken JSON'],
    ['no notebook', '[]', {}, 'is no notebook'],
    ['broken cells', '{"nbformat": 4, "cells": [7]}', {}, 'broken cells'],
    [
      'cells under a name that is spelled',
      '{"nbformat": 4, "c\\u0065lls": [{"cell_type":"code","source":""}]}',
      {},
      'unusual',
    ],
    ['no such cell', NOTEBOOK, { cell_id: 'none' }, 'There is no cell none. Cells: intro, count'],
    ['no such number', NOTEBOOK, { cell_id: 'cell-2' }, 'There is no cell cell-2'],
    ['no cell named', NOTEBOOK, {}, 'cell_id is needed'],
    ['no type', NOTEBOOK, { edit_mode: 'insert' } as const, 'cell_type is needed'],
  ])('is refused: %s', (_what, text, of, says) => {
    expect(() => change(text, of)).toThrow(says)
  })

  it('finds its place in megabytes of output and of backslashes', () => {
    const output = JSON.stringify({ output_type: 'stream', text: 'x\\"'.repeat(1_000_000) })
    const text = NOTEBOOK.replace('{"name": "stdout"', `${output},\n    {"name": "stdout"`)
    expect(cellsOf(change(text, { cell_id: 'intro' }))[0]).toEqual(['intro', ['new']])
  })
})

describe('NotebookEdit', () => {
  const edit = (folder: Folder, args: object) =>
    folder.call('NotebookEdit', { notebook_path: 'a.ipynb', new_source: 'new', ...args })

  it('changes a notebook that was read as it is now, and may change it again', async () => {
    const folder = useFolder({ 'a.ipynb': `\uFEFF${NOTEBOOK.replaceAll('\n', '\r\n')}` })
    expect((await edit(folder, { cell_id: 'intro' })).text).toBe('File has not been read yet. Read it first.')
    await folder.call('Read', { file_path: 'a.ipynb' })
    expect((await edit(folder, { cell_id: 'intro' })).text).toEqual(
      version('^Cell intro of a.ipynb: replaced.\n\\[a.ipynb: \\d+ lines'),
    )
    expect((await edit(folder, { cell_id: 'count', edit_mode: 'delete' })).isError).toBe(false)
    const text = readFileSync(join(folder.root, 'a.ipynb'), 'utf8')
    expect(text).toMatch(/^\uFEFF\{\r\n/)
    expect(text.replaceAll('\r\n', '')).not.toContain('\n')
    expect(cellsOf(text.slice(1))).toEqual([['intro', ['new']]])
  })

  it('refuses what is no notebook, or not there', async () => {
    const folder = useFolder({ 'a.ipynb': '{"nbformat": 3}' })
    expect((await edit(folder, { cell_id: 'a' })).text).toContain('of format 3')
    expect((await edit(folder, { notebook_path: 'b.ipynb', cell_id: 'a' })).text).toBe('File not found: b.ipynb.')
    expect((await edit(folder, { notebook_path: '../b.ipynb', cell_id: 'a' })).text).toContain('outside of')
  })

  it.each([
    ['insert', { edit_mode: 'insert', cell_type: 'code' }, false, true],
    ['replace', { cell_id: 'intro' }, false, true],
    ['delete', { cell_id: 'intro', edit_mode: 'delete' }, false, undefined],
    ['replace by number', { cell_id: 'cell-0' }, undefined, undefined],
  ])('finds out whether its %s took effect', async (_what, args, before, after) => {
    const folder = useFolder({ 'a.ipynb': NOTEBOOK })
    const tool = folder.tool('NotebookEdit')
    await folder.call('Read', { file_path: 'a.ipynb' })
    const ctx = folder.context()
    const given = { notebook_path: 'a.ipynb', new_source: 'new', ...args }
    expect((await tool.verify?.(given, ctx))?.happened).toBe(before)
    expect(await tool.execute(given, ctx)).toMatchObject({ success: true })
    expect((await tool.verify?.(given, ctx))?.happened).toBe(after)
  })
})
