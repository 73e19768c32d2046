/** Old tool results in a prompt: what is left of them, which of them are old, and that nothing else changes. */
import { describe, expect, it } from 'vitest'
import { shortenAll, shortenOld } from '../../../src/activities/model/shorten-results.ts'
import type { Message } from '../../../src/core/message.ts'

const LONG = 'x'.repeat(8000)

function round(n: number, content = LONG): Message[] {
  return [
    { role: 'assistant', content: '', toolCalls: [{ id: `c${n}`, name: 'look', arguments: '{}' }] },
    { role: 'tool', content: `${n} ${content} end`, toolCallId: `c${n}`, name: 'look' },
  ]
}

const rounds = (count: number): Message[] => Array.from({ length: count }, (_, n) => round(n)).flat()
const isShort = ({ role, content }: Message): boolean => role === 'tool' && content.length < 2000
const room = { window: 40_000, keep: 8000 }

describe('old results', () => {
  it('are shortened to their beginning and end, and say what was left out and how to get it again', () => {
    const [, result] = shortenOld(rounds(30), room)
    expect(result?.content).toMatch(
      /^0 x+…\n\[… 7\d+ of 80\d+ characters are left out here.*Ask look again.*\]\nx+ end$/,
    )
    expect(result).toMatchObject({ toolCallId: 'c0', name: 'look' })
  })

  it('are never those of the two newest rounds, and questions and answers stay', () => {
    const messages: Message[] = [{ role: 'user', content: LONG }, ...rounds(30)]
    const shown = shortenOld(messages, { ...room, keep: 1 })
    expect(shown.slice(-4)).toEqual(messages.slice(-4))
    expect(shown[0]).toBe(messages[0])
    expect(shown.filter(isShort)).toHaveLength(28)
  })

  it('have a border that moves in wide steps: most rounds change nothing before it', () => {
    const shortAt = (count: number): number => shortenOld(rounds(count), room).filter(isShort).length
    const borders = new Set(Array.from({ length: 20 }, (_, i) => shortAt(20 + i)))
    expect(borders.size).toBeGreaterThan(2)
    expect(borders.size).toBeLessThan(14)
  })

  it('are the same objects in every prompt, so that they are counted once', () => {
    const messages = rounds(30)
    expect(shortenOld(messages, room)[1]).toBe(shortenOld(messages, room)[1])
  })

  it('lose their pictures, and say so', () => {
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }
    const messages = rounds(30).map((message) => (message.role === 'tool' ? { ...message, parts: [image] } : message))
    const [, result] = shortenOld(messages, room)
    expect(result).not.toHaveProperty('parts')
    expect(result?.content).toContain('a picture of this result')
  })
})

describe('after a refusal', () => {
  it('new results are shortened too, and more with each refusal', () => {
    const messages = rounds(3)
    const length = (times: number): number => shortenAll(messages, times).at(-1)?.content.length ?? 0
    expect(length(1)).toBeLessThan(5000)
    expect(length(3)).toBeLessThan(length(1))
    expect(messages.at(-1)?.content).toHaveLength(LONG.length + 6)
  })
})
