import { expect, it } from 'vitest'
import { textLine } from '../../../src/capabilities/filesystem/versions.ts'

it.each([
  ['', 0],
  ['one', 1],
  ['one\n', 1],
  ['one\n\n', 2],
  ['one\ntwo', 2],
  ['one\ntwo\n', 2],
])('%j is said to have as many lines as Read shows of it: %i', (text, lines) => {
  expect(textLine('a.txt', text, 'abc')).toBe(`[a.txt: ${lines} lines, version abc]`)
})
