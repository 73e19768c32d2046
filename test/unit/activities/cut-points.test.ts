/** Where a transcript may be cut: never inside a tool exchange, whatever it is made of. */
import { describe, expect, it } from 'vitest'
import { chooseCut, cutPoints } from '../../../src/activities/compaction/cut-points.ts'
import { messageTokens } from '../../../src/activities/model/token-estimate.ts'
import type { Message } from '../../../src/core/message.ts'

/** Repeatable: the same seed gives the same numbers. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** Turns with any number of rounds and parallel calls; some are cancelled before their model has answered. */
function transcript(roll: (sides: number) => number): Message[] {
  const messages: Message[] = roll(4) === 0 ? [{ role: 'assistant', content: 'I begin.' }] : []
  for (let turn = roll(12); turn >= 0; turn--) {
    messages.push({ role: 'user', content: 'q'.repeat(1 + roll(2000)) })
    for (let round = roll(5); round > 0; round--) {
      // Some models repeat their ids in every answer.
      const toolCalls = Array.from({ length: 1 + roll(4) }, (_, i) => ({ id: `c${i}`, name: 'look', arguments: '{}' }))
      messages.push({ role: 'assistant', content: '', toolCalls })
      for (const { id } of toolCalls) {
        messages.push({ role: 'tool', content: 'r'.repeat(roll(4000)), toolCallId: id, name: 'look' })
      }
    }
    if (roll(5) > 0) messages.push({ role: 'assistant', content: 'a'.repeat(roll(1000)) })
  }
  return messages
}

/** Every call has its result right behind it, and every result its call. */
function isWhole(messages: readonly Message[]): boolean {
  let open: string[] = []
  for (const { role, toolCalls = [], toolCallId = '' } of messages) {
    if (role === 'tool') {
      if (!open.includes(toolCallId)) return false
      open = open.filter((id) => id !== toolCallId)
    } else if (open.length > 0) return false
    else open = toolCalls.map(({ id }) => id)
  }
  return open.length === 0
}

const SEEDS = Array.from({ length: 2000 }, (_, seed) => seed)

describe('a cut', () => {
  it('leaves whole exchanges on both sides, in 2,000 transcripts', () => {
    for (const seed of SEEDS) {
      const messages = transcript(dice(seed))
      for (const index of cutPoints(messages)) {
        const sides = [messages.slice(0, index), messages.slice(index)]
        expect(
          sides.map((side) => isWhole(side) && side.length > 0),
          `seed ${seed}, cut ${index}`,
        ).toEqual([true, true])
      }
    }
  })

  it('is not made right after a round that lacks a result', () => {
    const toolCalls = ['a', 'b'].map((id) => ({ id, name: 'look', arguments: '{}' }))
    const messages: Message[] = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '', toolCalls },
      { role: 'tool', content: 'r', toolCallId: 'a', name: 'look' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'q' },
    ]
    expect(cutPoints(messages)).toEqual([4])
  })

  it('is found wherever there is a place, and keeps no more than it may if a place allows that', () => {
    for (const seed of SEEDS) {
      const roll = dice(seed)
      const messages = transcript(roll)
      const keep = roll(8000)
      const points = cutPoints(messages)
      const cut = chooseCut(messages, keep)
      expect(cut !== undefined, `seed ${seed}`).toBe(points.length > 0)
      if (cut === undefined) continue
      expect(points, `seed ${seed}`).toContain(cut)
      const tokens = messages.slice(cut).reduce((sum, message) => sum + messageTokens(message), 0)
      const turn = messages.findLastIndex(({ role }) => role === 'user')
      if (cut < turn) expect(tokens, `seed ${seed}`).toBeLessThanOrEqual(keep)
    }
  })

  it('leaves the turn under way whole while it is not too long alone', () => {
    const round: Message[] = [
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'look', arguments: '{}' }] },
      { role: 'tool', content: 'r'.repeat(400), toolCallId: 'c', name: 'look' },
    ]
    const messages: Message[] = [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'yes' },
      { role: 'user', content: 'now' },
      ...round,
      ...round,
      ...round,
    ]
    expect(chooseCut(messages, 200)).toBe(2)
    expect(chooseCut(messages, 120)).toBe(7)
    expect(chooseCut(messages.slice(2), 250)).toBe(3)
  })
})
