/** Markdown in columns. */
import { stripVTControlCharacters as plain } from 'node:util'
import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { markdownLines } from '../../../../src/cli/chat/markdown-lines.ts'

const lines = (source: string, width = 40): string[] => markdownLines(source, width).map(plain)

it('headings, paragraphs and code stand apart', () => {
  expect(lines('# One\n\nSome **bold** `code`.\n\n```ts\nlet a = 1\n```')).toEqual([
    'One',
    '',
    'Some bold code.',
    '',
    '  ts',
    '  let a = 1',
  ])
})

it('lists keep their marks, their nesting and their boxes', () => {
  expect(lines('- a\n  - b\n- [x] c\n\n3. d\n4. e')).toEqual(['• a', '  • b', '• ☑ c', '', '3. d', '4. e'])
})

it('a link shows where it leads, once', () => {
  expect(lines('[here](https://a.example) <https://b.example>', 80)).toEqual([
    'here (https://a.example) https://b.example',
  ])
})

it('a table fits the width: its cells are wrapped, and what does not fit at all becomes a list', () => {
  const table = '| a | b |\n| --- | --: |\n| some longer words here | 1 |'
  expect(lines(table)).toEqual([
    'a                      │ b',
    '───────────────────────┼──',
    'some longer words here │ 1',
  ])
  for (const width of [12, 20, 30])
    for (const line of lines(table, width)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
  expect(lines('| a | b | c |\n| - | - | - |\n| 1 | 2 | 3 |', 10)).toEqual(['a: 1', 'b: 2', 'c: 3'])
})

it.each([100, 40, 10])('no line is wider than %i columns', (width) => {
  const source = `# ${'long '.repeat(30)}\n\n> ${'x'.repeat(300)}\n\n- ${'word '.repeat(50)}\n\n\`\`\`\n${'y'.repeat(250)}\n\`\`\`\n\n${'漢字'.repeat(60)}`
  for (const line of lines(source, width)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
})

it('what is nested too deeply, or is HTML, is text', () => {
  expect(lines('<b>x</b>')).toEqual(['<b>x</b>'])
  expect(lines('>'.repeat(20_000)).join('').length).toBeGreaterThan(0)
})

it('a text that no reader of Markdown gets through in a moment is shown as it is', () => {
  expect(lines(`**bold** ${'>'.repeat(300_000)}`)[0]).toMatch(/^\*\*bold\*\* >/)
})
