/**
 * From time to place and back, with folds where nobody worked. Pure. `place` counts milliseconds as they are drawn: a fold takes
 * few of them, however long it was.
 */

/** Time that is drawn as it passed, between folds. */
export interface Stretch {
  from: number
  to: number
  /** Where it begins, as drawn. */
  place: number
}

export interface TimeScale {
  stretches: readonly Stretch[]
  /** How much is drawn. */
  length: number
  /** How much a fold takes. */
  fold: number
}

/** Idle time that is shorter is drawn as it passed. */
const SHORTEST_FOLD_MS = 20_000
/** How much of the drawn length a fold takes. */
const FOLD_SHARE = 0.03

/** @param busy when somebody worked; any order, may overlap; not empty */
export function toScale(busy: readonly { from: number; to: number }[]): TimeScale {
  const stretches: { from: number; to: number }[] = []
  for (const { from, to } of busy.toSorted((one, other) => one.from - other.from)) {
    const last = stretches.at(-1)
    if (last && from - last.to < SHORTEST_FOLD_MS) last.to = Math.max(last.to, to)
    else stretches.push({ from, to })
  }
  const worked = stretches.reduce((sum, { from, to }) => sum + to - from, 0)
  const fold = Math.max(200, worked * FOLD_SHARE)
  let place = 0
  const placed = stretches.map((stretch) => {
    const begin = place
    place += stretch.to - stretch.from + fold
    return { ...stretch, place: begin }
  })
  return { stretches: placed, length: Math.max(1, place - fold), fold }
}

/** Where a time is drawn. */
export function positionOf({ stretches, fold }: TimeScale, at: number): number {
  const index = stretches.findLastIndex(({ from }) => from <= at)
  const stretch = stretches[index]
  if (!stretch) return 0
  if (at <= stretch.to) return stretch.place + at - stretch.from
  const next = stretches[index + 1]
  const end = stretch.place + stretch.to - stretch.from
  return next ? end + (fold * (at - stretch.to)) / (next.from - stretch.to) : end
}

/** The time that is drawn at a place. */
export function timeAt({ stretches, fold }: TimeScale, place: number): number {
  const index = Math.max(
    0,
    stretches.findLastIndex((stretch) => stretch.place <= place),
  )
  const stretch = stretches[index]
  if (!stretch) return 0
  const inside = place - stretch.place
  const length = stretch.to - stretch.from
  const next = stretches[index + 1]
  if (inside <= length || !next) return stretch.from + Math.min(inside, length)
  return stretch.to + ((inside - length) / fold) * (next.from - stretch.to)
}

/** The visible part of a scale. */
export interface TimeWindow {
  from: number
  to: number
}

interface Zoom {
  /** How much bigger the window becomes. Below 1: smaller, and what it shows is closer. */
  by: number
  /** A place that stays where it is. Default: the middle. */
  around?: number
}

/** Bigger or smaller, never beyond what there is. */
export function zoomed(
  { length }: TimeScale,
  { from, to }: TimeWindow,
  { by, around = (from + to) / 2 }: Zoom,
): TimeWindow {
  const wanted = Math.min(length, Math.max(Math.min(50, length), (to - from) * by))
  const share = to > from ? (around - from) / (to - from) : 0.5
  return moved({ length }, { from: around - wanted * share, to: around + wanted * (1 - share) }, 0)
}

/** The same window elsewhere, never beyond what there is. */
export function moved({ length }: Pick<TimeScale, 'length'>, { from, to }: TimeWindow, by: number): TimeWindow {
  const size = Math.min(to - from, length)
  const begin = Math.min(Math.max(0, from + by), length - size)
  return { from: begin, to: begin + size }
}

/** A window that reaches the end, which is now, goes on with it. */
export function following({ length }: Pick<TimeScale, 'length'>, { from, to }: TimeWindow): TimeWindow {
  return { from: Math.max(0, length - (to - from)), to: length }
}

const STEPS_MS = [
  10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000, 3_600_000,
  21_600_000, 86_400_000,
]

/** Round times in a window, at most `most` of them. */
export function ticksIn(scale: TimeScale, window: TimeWindow, most: number): number[] {
  const step = STEPS_MS.find((ms) => (window.to - window.from) / ms <= most) ?? 86_400_000
  return scale.stretches.flatMap(({ from, to, place }) => {
    const begin = Math.max(from, from + window.from - place)
    const end = Math.min(to, from + window.to - place)
    if (end < begin) return []
    const first = Math.ceil(begin / step)
    const count = Math.max(0, Math.min(most + 1, Math.floor(end / step) - first + 1))
    return Array.from({ length: count }, (_, index) => (first + index) * step)
  })
}
