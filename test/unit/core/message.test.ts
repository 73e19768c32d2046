import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brief, cut, jsonBytes } from '../../../src/core/message.ts'

const inJson = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2
const texts = fc.string({ unit: 'binary', maxLength: 60 })
const loneSurrogate = String.fromCharCode(0xd83d)

describe('the size of a text', () => {
  it('is what it takes inside JSON', () => {
    for (const text of ['', 'plain', '"\\\n\u0001', 'é東🎓', `a${loneSurrogate}b`])
      expect(jsonBytes(text)).toBe(inJson(text))
    fc.assert(fc.property(texts, (text) => jsonBytes(text) === inJson(text)))
  })
})

describe('a brief text', () => {
  it('is the text itself where that fits, to the byte', () => {
    fc.assert(fc.property(texts, (text) => brief(text, inJson(text)) === text))
  })

  it('is cut on code points, visibly, and never takes more than its bytes', () => {
    expect(brief('東京大学', 9)).toBe('東京…')
    expect(cut('a🎓b', 4)).toBe('a')
    fc.assert(
      fc.property(texts, fc.integer({ min: 3, max: 80 }), (text, limit) => {
        const short = brief(text, limit)
        expect(inJson(short)).toBeLessThanOrEqual(limit)
        if (short !== text) expect(text.startsWith(short.slice(0, -1))).toBe(true)
      }),
    )
  })
})
