/**
 * The lanes of the time line: who ran when. Pure. Spans of one session that overlap get tracks of their own. Time that nobody
 * used is folded, so that a tree that slept for a night shows its work and not the night.
 */
import type { TimelineSpan } from '../server/wire.ts'

/** A span with its times as numbers, and the track it lies in. */
export interface Bar {
  span: TimelineSpan
  from: number
  /** Now, while it goes on. */
  to: number
  track: number
  /** Which attempt at its step it is, from 1. The numbers that spans have themselves only grow. */
  nth: number
}

export interface Lane {
  sessionId: string
  bars: readonly Bar[]
  tracks: number
}

/** A worker that was lost: the attempts it had in hand were taken over. */
export interface Loss {
  at: number
  worker: string
  taken: readonly TimelineSpan[]
}

/** @param order the sessions, as they stand below each other @param now milliseconds since 1970 */
export function toLanes(spans: readonly TimelineSpan[], order: readonly string[], now: number): Lane[] {
  const bySession = new Map<string, TimelineSpan[]>()
  for (const span of spans) {
    const found = bySession.get(span.sessionId)
    if (found) found.push(span)
    else bySession.set(span.sessionId, [span])
  }
  return order.map((sessionId) => toLane(sessionId, bySession.get(sessionId) ?? [], now))
}

function toLane(sessionId: string, spans: readonly TimelineSpan[], now: number): Lane {
  const ends: number[] = []
  const attempts = new Map<string, number>()
  const bars = spans
    .map((span) => ({ span, from: Date.parse(span.begunAt), to: endOf(span, now) }))
    .toSorted((one, other) => one.from - other.from || other.to - one.to)
    .map((bar): Bar => {
      const free = ends.findIndex((end) => end <= bar.from)
      const track = free === -1 ? ends.length : free
      ends[track] = bar.to
      const step = stepOf(bar.span)
      const nth = (attempts.get(step) ?? 0) + 1
      attempts.set(step, nth)
      return { ...bar, track, nth }
    })
  return { sessionId, bars, tracks: Math.max(1, ends.length) }
}

/** Identifies a step: all attempts at it have the same text. */
function stepOf({ kind, turn, round, callId, name }: TimelineSpan): string {
  return [kind, turn, round, callId, name].join(' ')
}

/** A clock that is behind the store's must not end a span before it began. */
function endOf({ begunAt, endedAt }: TimelineSpan, now: number): number {
  const begun = Date.parse(begunAt)
  return Math.max(begun, endedAt === undefined ? now : Date.parse(endedAt))
}

/** Attempts of one worker that were taken over within this time are one loss. */
const ONE_LOSS_MS = 5_000

/** When workers were lost. */
export function lossesOf(spans: readonly TimelineSpan[]): Loss[] {
  const losses: (Loss & { taken: TimelineSpan[] })[] = []
  const taken = spans
    .filter(({ outcome, endedAt }) => outcome === 'taken_over' && endedAt !== undefined)
    .map((span) => ({ span, worker: span.worker ?? 'a worker', at: Date.parse(span.endedAt as string) }))
    .toSorted((one, other) => one.at - other.at)
  for (const { span, worker, at } of taken) {
    const same = losses.findLast((loss) => loss.worker === worker && at - loss.at <= ONE_LOSS_MS)
    if (same) same.taken.push(span)
    else losses.push({ at, worker, taken: [span] })
  }
  return losses
}

/** How many kinds of steps are named; the others are counted. */
const NAMED = 4

/** The steps that were taken over, as text. @example takenText(loss) // 'model call (gpt-5), Bash ×2' */
export function takenText({ taken }: Loss): string {
  const counts = new Map<string, number>()
  for (const { kind, name, title } of taken) {
    const words = kind === 'model' ? `model call (${name})` : (title ?? name)
    counts.set(words, (counts.get(words) ?? 0) + 1)
  }
  const named = [...counts].map(([words, count]) => (count === 1 ? words : `${words} ×${count}`))
  return [...named.slice(0, NAMED), ...(named.length > NAMED ? [`${named.length - NAMED} more`] : [])].join(', ')
}

/** The workers, in the order in which they appeared. */
export function workersOf(spans: readonly TimelineSpan[]): string[] {
  const oldestFirst = spans.toSorted((one, other) => Date.parse(one.begunAt) - Date.parse(other.begunAt))
  return [...new Set(oldestFirst.flatMap(({ worker }) => (worker === undefined ? [] : [worker])))]
}
