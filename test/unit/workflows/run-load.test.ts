import { describe, expect, it } from 'vitest'
import { LONG_RUN, crowdedBy, isLong, type RunLoad } from '../../../src/workflows/run-load.ts'

const empty: RunLoad = { events: 0, bytes: 0, signals: 0, updates: 0 }

describe('a run is crowded', () => {
  it.each<[keyof RunLoad, number]>([
    ['events', 51_200],
    ['bytes', 50 * 1024 * 1024],
    ['signals', 10_000],
    ['updates', 2000],
  ])('above 80 %% of its %s, and says so', (what, limit) => {
    expect(crowdedBy({ ...empty, [what]: limit * 0.8 })).toBeUndefined()
    expect(crowdedBy({ ...empty, [what]: limit * 0.8 + 1 })).toBe(`${limit * 0.8 + 1} of at most ${limit} ${what}`)
  })
})

it('is long at a small part of what crowds it, so that a new worker has replayed it soon', () => {
  expect([LONG_RUN, LONG_RUN + 1].map((events) => isLong({ events }))).toEqual([false, true])
  expect(crowdedBy({ ...empty, events: 10 * LONG_RUN })).toBeUndefined()
})
