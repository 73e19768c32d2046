/** The lanes of the time line, and from time to place. */
import { describe, expect, it } from 'vitest'
import { lossesOf, takenText, toLanes, workersOf } from '../../../src/web/timeline/lanes.ts'
import { following, moved, positionOf, ticksIn, timeAt, toScale, zoomed } from '../../../src/web/timeline/time-scale.ts'
import type { TimelineSpan } from '../../../src/web/server/wire.ts'

function span(from: number, to: number | undefined, rest: Partial<TimelineSpan> = {}): TimelineSpan {
  return {
    sessionId: 's',
    kind: 'tool',
    name: 'look',
    turn: 1,
    attempt: 1,
    begunAt: new Date(from).toISOString(),
    ...(to !== undefined && { endedAt: new Date(to).toISOString() }),
    ...rest,
  }
}

describe('lanes', () => {
  it('put spans that overlap below each other, and spans that follow each other into one track', () => {
    const [lane] = toLanes([span(0, 10), span(5, 20), span(10, 12), span(30, undefined)], ['s'], 40)
    expect(lane?.bars.map(({ from, to, track }) => [from, to, track])).toEqual([
      [0, 10, 0],
      [5, 20, 1],
      [10, 12, 0],
      [30, 40, 0],
    ])
    expect(lane?.tracks).toBe(2)
  })

  it('count the attempts at a step, whatever numbers they have', () => {
    const [lane] = toLanes(
      [span(0, 1, { attempt: 358 }), span(2, 3, { attempt: 359 }), span(2, 3, { turn: 2 })],
      ['s'],
      9,
    )
    expect(lane?.bars.map(({ nth }) => nth)).toEqual([1, 2, 1])
  })

  it('are there for every session in its order, also without spans', () => {
    expect(toLanes([span(0, 1)], ['other', 's'], 9).map(({ sessionId, bars }) => [sessionId, bars.length])).toEqual([
      ['other', 0],
      ['s', 1],
    ])
  })

  it('never end before they began, whatever the clock of the browser says', () => {
    expect(toLanes([span(100, undefined)], ['s'], 40)[0]?.bars[0]).toMatchObject({ from: 100, to: 100 })
  })

  it('tell when a worker was lost, once for all that it had in hand', () => {
    const taken = { outcome: 'taken_over', worker: 'w1' } as const
    const spans = [span(0, 100, taken), span(50, 400, taken), span(0, 9000, { ...taken, worker: 'w2' }), span(0, 5)]
    expect(lossesOf(spans)).toEqual([
      { at: 100, worker: 'w1', taken: [spans[0], spans[1]] },
      { at: 9000, worker: 'w2', taken: [spans[2]] },
    ])
    expect(workersOf(spans)).toEqual(['w1', 'w2'])
  })
})

describe('what was taken over', () => {
  const text = (...taken: Partial<TimelineSpan>[]): string =>
    takenText({ at: 0, worker: 'w', taken: taken.map((rest) => span(0, 1, rest)) })

  it('is named: the model of a call, the tool, each once', () => {
    expect(text({ kind: 'model', name: 'gpt-5' }, { title: 'Look around' }, {}, {})).toBe(
      'model call (gpt-5), Look around, look ×2',
    )
  })

  it('is counted behind the first four kinds', () => {
    expect(text(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name })))).toBe('a, b, c, d, 2 more')
  })
})

describe('a time scale', () => {
  const night = 8 * 3_600_000
  const scale = toScale([
    { from: 60_000 + night, to: 70_000 + night },
    { from: 0, to: 30_000 },
    { from: 20_000, to: 60_000 },
  ])

  it('folds what nobody used', () => {
    expect(scale.stretches.map(({ from, to }) => [from, to])).toEqual([
      [0, 60_000],
      [60_000 + night, 70_000 + night],
    ])
    expect(scale.length).toBe(70_000 + scale.fold)
    expect(scale.fold).toBeLessThan(5_000)
  })

  it('finds places and times back, also inside a fold', () => {
    for (const at of [0, 12_345, 60_000, 60_000 + night / 2, 60_000 + night, 70_000 + night]) {
      expect(timeAt(scale, positionOf(scale, at))).toBeCloseTo(at, 3)
    }
    expect(positionOf(scale, -5)).toBe(0)
    expect(positionOf(scale, 10 * night)).toBe(scale.length)
  })

  it('has round times in every stretch', () => {
    const ticks = ticksIn(scale, { from: 0, to: scale.length }, 10)
    expect(ticks).toContain(30_000)
    expect(ticks.every((at) => at <= 60_000 || at >= 60_000 + night)).toBe(true)
    expect(ticks.length).toBeGreaterThan(3)
    expect(ticks.length).toBeLessThan(14)
  })

  it('zooms around a place and never shows more than there is', () => {
    const whole = { from: 0, to: scale.length }
    const closer = zoomed(scale, whole, { by: 0.5, around: 0 })
    expect(closer).toEqual({ from: 0, to: scale.length / 2 })
    expect(zoomed(scale, closer, { by: 100 })).toEqual(whole)
    expect(following({ length: 100 }, { from: 10, to: 30 })).toEqual({ from: 80, to: 100 })
    expect(moved(scale, closer, 10 * night)).toEqual({ from: scale.length / 2, to: scale.length })
  })
})
