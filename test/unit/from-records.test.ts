/** What tells of a record comes back exactly as it was, or is kept whole. */
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { keepEvent, keepOutcome, wholeEvent, wholeOutcome } from '../../src/store/transcript/from-records.ts'

const call = { id: 'c', name: 'look', arguments: '{"a":1}' }
const message: Message = { role: 'assistant', content: 'yes', toolCalls: [call] }
const records = [{ seq: 7, message, chain: '' }]
const asked = { callId: 'c', name: 'look', arguments: '{"a":1}' }

describe('an event', () => {
  const at = { turn: 3, round: 1 }
  const data = {
    turn: 3,
    round: 1,
    seq: 7,
    text: 'yes',
    calls: [{ ...asked, title: 'Look' }],
    usage: { inputTokens: 1 },
  }
  const there = (type: string, given: Record<string, unknown>): unknown => {
    const { seq = null, data: kept } = keepEvent({ type, at, data: given }, records)
    return wholeEvent({ type, ...at, seq, data: kept }, seq === null ? null : message)
  }

  it('keeps what its record does not say, also about each call', () => {
    expect(keepEvent({ type: 'message.completed', at, data }, records)).toEqual({
      data: { calls: [{ title: 'Look' }], usage: { inputTokens: 1 } },
      seq: 7,
    })
  })

  it.each([
    ['as it was', data],
    ['with another text', { ...data, text: 'no' }],
    ['of another turn', { ...data, turn: 4 }],
    ['with fewer calls', { ...data, calls: [] }],
    ['without a text', { turn: 3, round: 1, seq: 7, calls: [] }],
    ['of another record', { ...data, seq: 8 }],
  ])('comes back %s', (_how, given) => {
    expect(there('message.completed', given)).toEqual(given)
  })

  it('of a type that tells of no record is kept', () => {
    expect(keepEvent({ type: 'session.paused', at, data: { seq: 7, text: 'yes' } }, records)).toEqual({
      data: { seq: 7, text: 'yes' },
    })
  })
})

describe('an outcome', () => {
  const ref = { id: 'c', name: 'look', preview: '{"a":1}', route: 'tool', timeoutMs: 5 }
  const answered = { kind: 'answered', gen: 2, seq: 7, text: 'yes', calls: [ref], usage: {} }

  it('keeps what its records do not say', () => {
    expect(keepOutcome(answered, 2, records)).toEqual({
      kind: 'answered',
      calls: [{ route: 'tool', timeoutMs: 5 }],
      usage: {},
    })
  })

  it.each([
    ['as it was', answered],
    ['with the end of its turn', { ...answered, calls: [], stopReason: 'max_tool_rounds' }],
    ['with another text', { ...answered, text: 'done' }],
    ['of another generation', { ...answered, gen: 1 }],
    ['of another kind', { kind: 'cancelled', gen: 2 }],
    ['that is none of ours', 'anything'],
  ])('comes back %s', (_how, outcome) => {
    expect(wholeOutcome(keepOutcome(outcome, 2, records), 2, records)).toEqual(outcome)
  })
})
