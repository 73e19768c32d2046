import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PasteSplitter, type Sent } from '../../../../src/cli/chat/split-pastes.ts'

const START = '\u001b[200~'
const END = '\u001b[201~'

function split(...pieces: string[]): Sent[] {
  const splitter = new PasteSplitter()
  return joined([...pieces.flatMap((piece) => splitter.take(piece)), ...splitter.giveUp()])
}

/** Neighbours of one kind are one. */
function joined(all: readonly Sent[]): Sent[] {
  const sent: Sent[] = []
  for (const one of all) {
    const before = sent.at(-1)
    if (before && 'keys' in before && 'keys' in one) before.keys += one.keys
    else if (before && 'paste' in before && 'paste' in one) before.paste += one.paste
    else sent.push({ ...one })
  }
  return sent
}

describe('what a terminal sends', () => {
  it('is keys and pastes, in their order', () => {
    const splitter = new PasteSplitter()
    expect(splitter.take(`a${START}b\rc${END}`)).toEqual([{ keys: 'a' }, { paste: 'b\rc' }])
    expect(splitter.giveUp()).toEqual([])
    expect(splitter.take(`d\r${START}${END}`)).toEqual([{ keys: 'd\r' }, { paste: '' }])
  })

  it.each([
    ['the mark of the end', `one${END}\rtwo`],
    ['several marks', `one${END}\r${START}two${END}1${END}\u001b[201\r`],
  ])('is no key where a pasted text holds %s, however it is cut', (_, pasted) => {
    const text = `${START}${pasted}${END}`
    for (let at = 0; at <= text.length; at++)
      expect(split(text.slice(0, at), text.slice(at))).toEqual([
        { paste: pasted.replaceAll(START, '').replaceAll(END, '') },
      ])
  })

  it('is told the same way, however it is cut', () => {
    const part = fc.oneof(fc.constantFrom(START, END, '\u001b', '\u001b[', '\u001b[2', '[200~', 'x'), fc.string())
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat(200)), (parts, cuts) => {
        const text = parts.join('')
        const at = [0, ...cuts.filter((cut) => cut < text.length).sort((one, other) => one - other), text.length]
        const pieces = at.slice(1).map((end, nth) => text.slice(at[nth], end))
        expect(split(...pieces)).toEqual(split(text))
      }),
    )
  })

  it('holds no key back: Escape is told when nothing follows it', () => {
    const splitter = new PasteSplitter()
    expect(splitter.take('a\u001b')).toEqual([{ keys: 'a' }])
    expect(splitter.giveUp()).toEqual([{ keys: '\u001b' }])
    expect(splitter.take('b')).toEqual([{ keys: 'b' }])
  })

  it('holds a paste until its end, however long that takes', () => {
    const splitter = new PasteSplitter()
    expect(splitter.take(`${START}one`)).toEqual([])
    expect(splitter.giveUp()).toEqual([])
    expect(splitter.take(`two${END}`)).toEqual([{ paste: 'onetwo' }])
  })

  it('is keys again behind a paste whose end was lost', () => {
    const splitter = new PasteSplitter()
    splitter.take(`${START}one`)
    expect(splitter.open).toBe(true)
    expect(splitter.endPaste()).toEqual([{ paste: 'one' }])
    expect(splitter.open).toBe(false)
    expect(splitter.take('\u0003')).toEqual([{ keys: '\u0003' }])
  })
})
