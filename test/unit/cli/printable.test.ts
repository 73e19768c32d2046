import { describe, expect, it } from 'vitest'
import { printable, printableJson } from '../../../src/cli/output/printable.ts'

const ATTACKS = {
  'clears the screen': ['\u001b[2Jgone', '<1b>[2Jgone'],
  'writes to the clipboard': ['\u001b]52;c;cm0gLXJm\u0007', '<1b>]52;c;cm0gLXJm<07>'],
  'does so in one byte': ['\u009d52;c;x\u009c', '<9d>52;c;x<9c>'],
  'sets colours in one byte': ['\u009b31mred', '<9b>31mred'],
  'writes over what stands there': ['paid 1000\rpaid 1', 'paid 1000\npaid 1'],
  'deletes what stands there': ['ab\b\u007f', 'ab<08><7f>'],
  'turns the order of letters': ['file\u202etxt.exe', 'file<202e>txt.exe'],
  'isolates a direction': ['\u2066a\u2069', '<2066>a<2069>'],
  'hides between letters': ['pay\u200bpal', 'pay<200b>pal'],
  'breaks a line where nobody sees it': ['a\u2028b', 'a<2028>b'],
  'is half a character': ['a\ud800', 'a<d800>'],
} as const

describe.each(Object.entries(ATTACKS))('a text that %s', (_what, [text, shown]) => {
  it('is made visible', () => {
    expect(printable({ label: text, calls: [{ [text]: text }] })).toEqual({ label: shown, calls: [{ [shown]: shown }] })
  })

  it('stays complete in JSON, which holds no such character', () => {
    const json = printableJson({ text })
    expect(JSON.parse(json)).toEqual({ text })
    expect(json).toMatch(/^[\n\t\u0020-\u007e]*$/)
  })
})

it('leaves alone what people write, and what is no text', () => {
  const value = { text: 'Größe\t– 日本語 👩‍👩‍👧 עברית\nnext line', n: 1, at: new Date(0), none: null, list: [true] }
  expect(printable(value)).toEqual(value)
})
