import { describe, expect, it } from 'vitest'
import { lookAgainMs, whoWaited } from '../../../src/workflows/look-again.ts'

const minutes = (looks: number): number => lookAgainMs(looks) / 60_000
const waits = (looks: number): number[] => Array.from({ length: looks }, (_, i) => minutes(i + 1))

describe('awaited children are looked at', () => {
  it('every 5 minutes for an hour', () => {
    expect(waits(12)).toEqual(Array.from({ length: 12 }, () => 5))
  })

  it('then less and less often, but at least every quarter of an hour', () => {
    expect(waits(25).slice(12)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 15, 15])
    expect(minutes(100_000)).toBe(15)
  })

  it('about 100 times a day, which is no burden on a history', () => {
    let [day, looks] = [24 * 60, 0]
    while (day > 0) day -= minutes(++looks)
    expect(looks).toBeLessThan(110)
  })
})

it('if two calls wait for one agent, both hear that it has ended', () => {
  const wait = (callKey: string, childId: string) => ({ callKey, childId })
  const how = { childId: 's-a', how: 'ended' }
  const heard = whoWaited([wait('t1.0.0', 's-a'), wait('t1.0.1', 's-b'), wait('t1.0.2', 's-a')], [how, how])
  expect(heard.map(({ child, first }) => [child.callKey, first])).toEqual([
    ['t1.0.0', true],
    ['t1.0.2', false],
  ])
})
