/** What `npm run bench` prints, without a measurement. Readers of the lines rely on names, aims and rounding. */
import { describe, expect, it } from 'vitest'
import { figuresOf, isMet, median, toJson, toLine, type Figure } from '../../../bench/figures.ts'
import { ROWS } from '../../../bench/rows.ts'

const figure = (value: number, aim?: Figure['aim']): Figure => ({
  row: 'turn_over_floor',
  value,
  unit: 'ratio',
  ...(aim && { aim }),
})

describe('a figure', () => {
  it('as JSON is one line with its value rounded, its aim in words, and whether that is met', () => {
    expect(JSON.parse(toJson(figure(1.23456, { atMost: 1.3 })))).toEqual({
      row: 'turn_over_floor',
      value: 1.23,
      unit: 'ratio',
      aim: '≤ 1.3',
      ok: true,
    })
    expect(JSON.parse(toJson(figure(0.5, { atLeast: 0.75 })))).toMatchObject({ aim: '≥ 0.75', ok: false })
    expect(JSON.parse(toJson(figure(12_345.67)))).toMatchObject({ value: 12_346, aim: null, ok: true })
  })

  it('for people stands in columns, and says nothing of a missing aim', () => {
    expect(toLine(figure(1.4, { atMost: 1.3 }))).toMatch(/^turn_over_floor +1\.4 ratio +≤ 1\.3 +\S*missed/)
    expect(toLine(figure(1.3, { atMost: 1.3 }))).toMatch(/^turn_over_floor +1\.3 ratio +≤ 1\.3 +\S*ok/)
    expect(toLine(figure(7))).toMatch(/^turn_over_floor +7 ratio$/)
  })

  it('meets its aim on the line, and never if nothing was measured', () => {
    expect([1.3, 1.31].map((value) => isMet(figure(value, { atMost: 1.3 })))).toEqual([true, false])
    expect([0.75, 0.74].map((value) => isMet(figure(value, { atLeast: 0.75 })))).toEqual([true, false])
    expect(isMet(figure(NaN, { atMost: 1.3 }))).toBe(false)
    expect(isMet(figure(NaN))).toBe(false)
  })
})

describe('the median', () => {
  it('is the middle of the values in any order, or between the two in the middle', () => {
    expect([median([9, 1, 100]), median([100, 2, 4, 1]), median([7]), median([])]).toEqual([9, 3, 7, NaN])
  })
})

describe('the rows', () => {
  const aims = Object.values(ROWS).flatMap((rows) =>
    Object.entries(rows).map(([row, told]) => [row, 'aim' in told ? told.aim : undefined] as const),
  )

  it('that people and CI read by name are there, with their aims', () => {
    expect(Object.fromEntries(aims)).toMatchObject({
      turn_ms: undefined,
      turn_over_floor: { atMost: 1.3 },
      throughput_over_floor: { atLeast: 0.75 },
      history_bytes_per_turn_10: undefined,
      history_bytes_per_turn_100: undefined,
      history_bytes_per_turn_1000: undefined,
      turn_ms_1000_over_10: { atMost: 1.3 },
      fork_10000_over_10: { atMost: 1.3 },
      fork_bytes: { atMost: 1023 },
      recovery_s: { atMost: 1.5 },
      replace_worker_s: { atMost: 10 },
      longest_run_s: { atMost: 30 },
      rss_mb_1000_idle: undefined,
      rss_mb_100_running: undefined,
      worker_start_s: undefined,
    })
  })

  it('have a name each', () => {
    expect(new Set(aims.map(([row]) => row)).size).toBe(aims.length)
  })

  it('are printed with what was measured for them, in the order of the table', () => {
    const values = { recovery_s: 3, worker_boot_s: 1, worker_start_s: 2 }
    expect(figuresOf('recovery', values)).toEqual([
      { row: 'worker_boot_s', value: 1, unit: 's' },
      { row: 'worker_start_s', value: 2, unit: 's' },
      { row: 'recovery_s', value: 3, unit: 's', aim: { atMost: 1.5 } },
    ])
  })
})
