/** A worker says how long something lasts. Its clock, which may be wrong by hours, takes no part. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Pause } from '../../../src/core/pause.ts'
import { byOwnClock } from '../../../src/workflows/own-clock.ts'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2030-01-01T00:00:00Z') }))
afterAll(() => void vi.useRealTimers())

const IN_A_MINUTE = '2030-01-01T00:01:00.000Z'
const pause: Pause = { reason: 'model_error', message: 'away' }

it('counts the end of a wait for agents, the next try of a pause and the end of a question from now on', () => {
  const awaits = { nth: 0, agents: ['s-a'] }
  expect(byOwnClock({ kind: 'awaits', gen: 0, awaits: { ...awaits, leftMs: 60_000 } })).toEqual({
    kind: 'awaits',
    gen: 0,
    awaits: { ...awaits, until: IN_A_MINUTE },
  })
  expect(byOwnClock({ kind: 'failed', pause, nextTryMs: 60_000 })).toEqual({
    kind: 'failed',
    pause: { ...pause, nextTryAt: IN_A_MINUTE },
  })
  const item = { kind: 'question', id: 'q' } as never
  expect(byOwnClock({ kind: 'pending', gen: 0, item, leftMs: 60_000 })).toMatchObject({
    item: { expiresAt: IN_A_MINUTE },
  })
})

it('leaves alone what promises no time, and a time that an earlier attempt has promised', () => {
  const awaits = { nth: 0, agents: ['s-a'], until: IN_A_MINUTE }
  for (const outcome of [
    { kind: 'awaits', gen: 0, awaits } as const,
    { kind: 'failed', pause } as const,
    { kind: 'due', gen: 0 } as const,
  ])
    expect(byOwnClock(outcome)).toEqual(outcome)
})
