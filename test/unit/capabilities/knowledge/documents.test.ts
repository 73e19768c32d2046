/** What a search finds: the passages of documents. */
import { expect, it } from 'vitest'
import { knowledge } from '../../../../src/capabilities/index.ts'
import { passagesOf } from '../../../../src/capabilities/knowledge/documents.ts'

it('a document is split at headings, and at empty lines after enough text, without losing a line', () => {
  const long = 'word '.repeat(300).trimEnd()
  const text = ['# One', 'first', '', '# Two', long, '', 'rest', ''].join('\n')
  const passages = passagesOf(text)
  expect(passages.map(({ line }) => line)).toEqual([1, 4, 6])
  expect(
    passages
      .map((passage) => passage.text)
      .join('\n')
      .replaceAll('\n', ''),
  ).toBe(text.replaceAll('\n', ''))
})

it('a text without empty lines is split too, and an empty one has no passages', () => {
  const passages = passagesOf(Array.from({ length: 100 }, () => 'x'.repeat(200)).join('\n'))
  expect(Math.max(...passages.map((passage) => passage.text.length))).toBeLessThanOrEqual(4000)
  expect(passagesOf('\n \n')).toEqual([])
})

it('a pack refuses a folder that is not absolute, and extensions that are patterns', () => {
  expect(() => knowledge({ folder: 'docs' })).toThrow('knowledge: folder "docs" is no absolute path')
  expect(() => knowledge({ folder: '/srv/docs', extensions: ['*'] })).toThrow('extension "*" is not allowed')
})
