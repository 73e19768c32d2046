/** What holds the session up, with the cards that let it go on: its own questions and pause, and those of its forks. */
import type { ReactNode } from 'react'
import { keyOfWaiting, WaitingCard } from '../inbox/waiting-card.tsx'
import type { Session, Waiting } from '../server/wire.ts'
import type { Conversation } from './conversation-state.ts'

interface HoldupsProps {
  session: Session
  weather: Conversation['weather']
  now: number
  onDone(): void
}

export function Holdups({ session, weather, now, onDone }: HoldupsProps): ReactNode {
  const items = heldUpBy(session)
  if (items.length === 0 && !weather) return null
  return (
    <section className="holdups" aria-label="What it waits for">
      {weather && (
        <p className="weather">
          Waits for {weather.provider}: {weather.why}. Next try{' '}
          {weather.nextTry <= now ? 'now' : `in ${Math.ceil((weather.nextTry - now) / 1000)} s`}.
        </p>
      )}
      {items.map((item) => (
        <WaitingCard key={keyOfWaiting(item)} item={item} place={item.sessionId !== session.id} onDone={onDone} />
      ))}
    </section>
  )
}

/** Its own items first. */
function heldUpBy(session: Session): Waiting[] {
  const { id, label, agent, pending, pause, heldBy, state } = session
  if (state === 'closed') return []
  const where = { sessionId: id, label, agent }
  const own: Waiting[] = pending.map((item) => ({ ...item, ...where }))
  const paused: Waiting[] = pause ? [{ ...pause, ...where, kind: 'paused', at: session.createdAt }] : []
  return [...own, ...paused, ...heldBy]
}
