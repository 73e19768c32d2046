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
    else sent.push({ ...one })
  }
  return sent
}

describe('what a terminal sends', () => {
  it('is keys and pastes, in their order', () => {
    expect(split(`a${START}b\rc${END}d${START}${END}`)).toEqual([
      { keys: 'a' },
      { paste: 'b\rc' },
      { keys: 'd' },
      { paste: '' },
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
})
