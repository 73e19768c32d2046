/** Text in columns. */
import stringWidth from 'string-width'
import pc from 'picocolors'
import { expect, it } from 'vitest'
import { cutLine, oneLineOf, wrapLines } from '../../../../src/cli/chat/wrap-lines.ts'

const colours = pc.createColors(true)

it('words stay whole, and no line begins with the space at which it was broken', () => {
  expect(wrapLines('12345 78 0', 5)).toEqual(['12345', '78 0'])
  expect(wrapLines(colours.red('12345 78'), 5)[1]).not.toContain(' 78')
  expect(wrapLines('  code', 5)[0]).toBe('')
})

it.each(['x'.repeat(40_000), 'words '.repeat(7_000), '漢字😀'.repeat(4_000), '👩‍👩‍👧é'.repeat(3_000)])(
  'a long line is cut where its columns end, and nothing of it is lost',
  (line) => {
    const lines = cutLine(line, 40)
    expect(lines.join('')).toBe(line)
    expect(Math.max(...lines.map((each) => stringWidth(each)))).toBeLessThanOrEqual(40)
    expect(wrapLines(line, 40)).toHaveLength(lines.length)
  },
)

it('a letter of several units is never cut, wherever the text is divided', () => {
  const family = '👩‍👩‍👧'
  expect(
    cutLine(`a${family.repeat(400)}`, 3)
      .slice(1, -1)
      .every((each) => each === family),
  ).toBe(true)
})

it('one line of a long text is its beginning, and says that there is more', () => {
  expect(oneLineOf('a\n  b', 10)).toBe('a b')
  expect(oneLineOf('word '.repeat(300_000), 12)).toBe('word word w…')
})
