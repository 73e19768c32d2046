/** What a session is doing, in a few words. Pure. */
import type { Session } from '../server/wire.ts'

/** The states as a tree counts them. `asks`: a person is waited for. */
export type Mood = 'asks' | 'paused' | 'running' | 'waiting' | 'idle' | 'closed'

/** What concerns a person first. */
export const MOODS: readonly Mood[] = ['asks', 'paused', 'running', 'waiting', 'idle', 'closed']

export const MOOD_WORDS: Readonly<Record<Mood, string>> = {
  asks: 'asks you',
  paused: 'paused',
  running: 'running',
  waiting: 'waiting',
  idle: 'idle',
  closed: 'closed',
}

type Shown = Pick<Session, 'state' | 'pending' | 'pause' | 'weather' | 'inHand' | 'heldBy'>

export function moodOf({ state, pending }: Pick<Session, 'state' | 'pending'>): Mood {
  return pending.length > 0 && state !== 'closed' ? 'asks' : state
}

/** One line; empty if it does nothing. @param now milliseconds since 1970 */
export function doing({ state, pending, pause, weather, inHand, heldBy }: Shown, now: number): string {
  const [asked] = pending
  if (state === 'closed') return ''
  if (asked) return asked.message
  if (pause) return pause.message
  if (weather) return `${weather.provider}: ${weather.why}`
  const steps = inHand.map(
    (step) => `${step.kind === 'model' ? 'thinks' : (step.title ?? step.name)} ${ago(step.since, now)}`,
  )
  if (steps.length > 0) return steps.join(', ')
  const [held] = heldBy
  if (held) return `waits for ${held.label}${heldBy.length > 1 ? ` and ${heldBy.length - 1} more` : ''}`
  return ''
}

/** @example ago(new Date(now - 61_000), now) // '1 min' */
export function ago(since: string | number, now: number): string {
  return span(now - (typeof since === 'number' ? since : Date.parse(since)))
}

/** A time that has passed. @example span(1_500) // '1.5 s' */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`
  return `${Math.floor(ms / 86_400_000)} d`
}
