import { expect, it } from 'vitest'
import { clean, cleanJson, storableJson } from '../../../src/core/clean.ts'

const texts = [
  'plain',
  'a\u0000b',
  '\ud800',
  'x\udfff',
  '😀',
  '\\u0000 written out',
  '\\ud800',
  'ü\u0001',
  '\ud83d',
  'é\ude00\ud83d',
]

it('replaces what PostgreSQL refuses, and only that', () => {
  expect(texts.map(clean)).toEqual([
    'plain',
    'a\ufffdb',
    '\ufffd',
    'x\ufffd',
    '😀',
    '\\u0000 written out',
    '\\ud800',
    'ü\u0001',
    '\ufffd',
    'é\ufffd\ufffd',
  ])
})

it.each(texts)('writes %j as JSON with all of it storable, as value and as name', (text) => {
  for (const value of [text, [text], { [text]: { deep: [text, 1, null] } }]) {
    expect(storableJson(value)).toBe(JSON.stringify(cleanJson(value)))
  }
})
