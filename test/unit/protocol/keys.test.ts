/** Keys are read as they were written, and two keys with different meanings are never the same. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessionIdProblem } from '../../../src/core/path-part.ts'
import { newEvent, rejectionKey } from '../../../src/protocol/events.ts'
import {
  OPEN_KEY,
  SQL,
  announcedKey,
  announcementKey,
  answerBodyId,
  callKey,
  callOrigin,
  readOriginTurn,
  agentOrigin,
  agentKey,
  childId,
  clientOrigin,
  eventKey,
  hookKey,
  idempotencyKey,
  modelKey,
  openingKey,
  pendingId,
  readCallKey,
  readModelKey,
  readOpeningKey,
  readPendingId,
  readableId,
  type AskingStep,
} from '../../../src/protocol/keys.ts'

const count = fc.nat({ max: 1_000_000 })
const roundAt = fc.record({ turn: count, round: count })
const callAt = fc.record({ turn: count, round: count, index: count })
/** Of every kind of step. */
const stepKey = fc.oneof(
  fc.constant(OPEN_KEY),
  roundAt.map(modelKey),
  callAt.map(callKey),
  callAt.map((at) => openingKey(callKey(at))),
  fc.oneof(fc.constant(OPEN_KEY), callAt.map(callKey)).map(hookKey),
  count.map(announcementKey),
)

describe('a key', () => {
  it('of a call is read as it was written, and no other key is taken for one', () => {
    fc.assert(
      fc.property(callAt, (at) => {
        expect(readCallKey(callKey(at))).toEqual(at)
      }),
    )
    fc.assert(fc.property(fc.string(), (text) => readCallKey(text) === undefined || /^t[\d.]+$/.test(text)))
    expect(['t1.0', 't1.0.0.0', 't1.0.0 ', 't1.0.-1', 'T1.0.0', `t${'1'.repeat(16)}.0.0`].map(readCallKey)).toEqual(
      Array(6).fill(undefined),
    )
  })

  it('of a model step is read as it was written, and no other key is taken for one', () => {
    fc.assert(
      fc.property(roundAt, (at) => {
        expect(readModelKey(modelKey(at))).toEqual(at)
      }),
    )
    expect(['m1', 'm1.0.0', 't1.0', 'm1.0.fork', 'm1.0 ', 'c1'].map(readModelKey)).toEqual(Array(6).fill(undefined))
  })

  it('of the step that opens a child names the call, and the step that opens a session names none', () => {
    fc.assert(
      fc.property(callAt, (at) => {
        expect(readOpeningKey(openingKey(callKey(at)))).toBe(callKey(at))
      }),
    )
    expect([OPEN_KEY, hookKey(OPEN_KEY), 't1.0.0', 'm1.0', 'a1'].map(readOpeningKey)).toEqual(Array(5).fill(undefined))
  })

  it('of one step is never that of another step', () => {
    const all = [
      OPEN_KEY,
      hookKey(OPEN_KEY),
      ...[1, 11].flatMap((n) => [
        announcementKey(n),
        ...[1, 11].flatMap((round) => [
          modelKey({ turn: n, round }),
          ...[1, 11].flatMap((index) => {
            const call = callKey({ turn: n, round, index })
            return [call, openingKey(call), hookKey(call)]
          }),
        ]),
      ]),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})

describe('the id of a pending item', () => {
  it('is read as it was written, whatever step asks', () => {
    fc.assert(
      fc.property(fc.record({ key: stepKey, gen: count, lease: count }), (at) => {
        expect(readPendingId(pendingId(at))).toEqual(at)
      }),
    )
  })

  it('is none without a step, a generation and a lease', () => {
    expect(['', '@0.1', 't1.0.0', 't1.0.0@', 't1.0.0@0', 't1.0.0@0.', 't1.0.0@a.1'].map(readPendingId)).toEqual(
      Array(7).fill(undefined),
    )
  })
})

describe('the key of an event', () => {
  it('is never that of another event, even if a message has the name of an announcement', () => {
    const keys = [
      announcedKey(1, 0),
      announcedKey(1, 1),
      rejectionKey(announcedKey(1, 0)),
      eventKey('tool.status', 't1.0.0'),
      eventKey('tool.update', 't1.0.0', 'progress'),
      eventKey('tool.update', 't1.0.0', 'output'),
      eventKey('pending.opened', 't1.0.0@0.1'),
      eventKey('pending.closed', 't1.0.0@0.1'),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('comes with the place of the event', () => {
    const data = { turn: 3, stopReason: 'cancelled', text: '' } as const
    expect(newEvent('turn.completed', { of: [3], at: { turn: 3 }, data })).toEqual({
      type: 'turn.completed',
      key: 'turn.completed 3',
      at: { turn: 3 },
      data,
    })
    // @ts-expect-error An event without its place does not compile, because a rewind would forget it.
    void (() => newEvent('turn.completed', { of: [3], data }))
  })
})

describe('what a call is named by outside', () => {
  it('differs with the session, the step and its input', () => {
    const made = [callOrigin, idempotencyKey, (of: AskingStep) => childId(of, [])].map((make) =>
      [
        ['s-1', 't1.0.0', 'a1b2'],
        ['s-2', 't1.0.0', 'a1b2'],
        ['s-1', 't1.0.1', 'a1b2'],
        ['s-1', 't1.0.0', 'c3d4'],
      ].map(([sessionId = '', key = '', inputHash = '']) => make({ sessionId, key, inputHash })),
    )
    for (const names of made) expect(new Set(names).size).toBe(4)
  })

  it('says in which turn a session was asked for, and nothing about a client', () => {
    const origins = [
      callOrigin({ sessionId: 't1.1.1x', key: 't3.0.2', inputHash: 'a1' }),
      callOrigin({ sessionId: 's-1', key: openingKey('t4.0.0'), inputHash: 'a1' }),
      agentOrigin({ sessionId: 's-1', key: agentKey('t5.1.0', 2), inputHash: 'a1' }, { notifies: true }),
      clientOrigin('x'),
      '',
    ]
    expect(origins.map(readOriginTurn)).toEqual([3, 4, 5, undefined, undefined])
  })

  it('is not taken for the request of a client', () => {
    expect(callOrigin({ sessionId: 's-1', key: 't1.0.0', inputHash: 'a1' })).not.toBe(clientOrigin('t1.0.0/a1'))
  })
})

describe('the id of a session', () => {
  it('begins with the first name that can be read, and ends in 60 bits', () => {
    expect(readableId(['Tea & Coffee', 'agent'], 0n)).toBe('tea-coffee-aaaaaaaaaaaa')
    expect(readableId(['お茶', 'research'], 0n)).toBe('research-aaaaaaaaaaaa')
    expect(readableId(['お茶', '🍵'], 0n)).toBe('s-aaaaaaaaaaaa')
    const ids = Array.from({ length: 60 }, (_, bit) => readableId(['a'], 1n << BigInt(bit)))
    expect(new Set(ids).size).toBe(60)
  })

  it('is allowed, whatever the names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (name, unique) => {
        expect(sessionIdProblem(readableId([name], unique))).toBeUndefined()
      }),
    )
  })
})

it('a long answer of a person can be told from a message, even from one that a user has named like it', () => {
  const [, pattern = ''] = /^id ~ '(.+)'$/.exec(SQL.isAnswerBody('id')) ?? []
  expect(answerBodyId('6f1c2a34-0b5d-4e6f-8a9b-0123456789ab')).toMatch(new RegExp(pattern))
  for (const id of ['answer-1', 'answer-', 'agent-6f1c2a34-0b5d-4e6f-8a9b-0123456789ab'])
    expect(id).not.toMatch(new RegExp(pattern))
})
