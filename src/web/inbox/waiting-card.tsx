/** One thing that waits for a person, wherever it is shown: in the inbox, and inside its session. */
import { useState, type ReactNode } from 'react'
import { api } from '../server/api.ts'
import { attempt } from '../notices.tsx'
import { PlainText } from '../plain-text.tsx'
import { hrefOf } from '../route.ts'
import { ago } from '../tree/doing.ts'
import { useNow } from '../use-now.ts'
import type { Waiting } from '../server/wire.ts'
import { PausedCard } from './paused-card.tsx'
import './inbox.css'
import type { PendingKind } from '../../client/index.ts'
import { ApprovalCard } from './approval-card.tsx'
import type { QuestionCardProps } from './card-props.ts'
import { QuestionCard } from './question-card.tsx'
import { UnknownOutcomeCard } from './unknown-outcome-card.tsx'

interface WaitingCardProps {
  item: Waiting
  /** It was answered. */
  onDone?(): void
  /** Names the session and links to it; not needed inside the session itself. */
  place?: boolean
}

/** @example <WaitingCard item={item} onDone={again} place /> */
export function WaitingCard({ item, onDone, place = false }: WaitingCardProps): ReactNode {
  const [busy, setBusy] = useState(false)
  const now = useNow(10_000)
  const act = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
    setBusy(true)
    const isDone = await attempt(work, done)
    setBusy(false)
    if (isDone) onDone?.()
    return isDone
  }
  return (
    <article className={`card waiting-card ${item.kind}`} aria-label={`${titleOf(item)}: ${item.label}`}>
      <header>
        <span className="kind">{titleOf(item)}</span>
        {item.kind !== 'paused' && (item.title === undefined ? <code>{item.name}</code> : <b>{item.title}</b>)}
        {place && (
          <a href={hrefOf({ at: 'session', sessionId: item.sessionId })}>
            {item.label} <span className="quiet">{item.agent}</span>
          </a>
        )}
        <time className="num quiet" dateTime={item.at} title={new Date(item.at).toLocaleString()}>
          {ago(item.at, now)}
        </time>
      </header>
      <p className="message">
        <PlainText text={item.message} />
      </p>
      {item.kind === 'paused' ? (
        <PausedCard
          item={item}
          busy={busy}
          resume={(options) => act(() => api.resume(item.sessionId, options), 'Resumed.')}
        />
      ) : (
        renderCard(item, busy, act)
      )}
    </article>
  )
}

function renderCard(
  item: Exclude<Waiting, { kind: 'paused' }>,
  busy: boolean,
  act: (work: () => Promise<unknown>, done: string) => Promise<boolean>,
): ReactNode {
  const { Card, done } = CARDS[item.kind]
  return (
    <Card item={item} busy={busy} answer={(answer) => act(() => api.answer(item.sessionId, item.id, answer), done)} />
  )
}

function titleOf(item: Waiting): string {
  if (item.kind !== 'paused') return item.form?.header ?? CARDS[item.kind].title
  return `Paused · ${item.reason.replaceAll('_', ' ')}`
}

/** Tells items apart. */
export function keyOfWaiting(item: Waiting): string {
  return item.kind === 'paused' ? `paused/${item.sessionId}` : `${item.sessionId}/${item.id}`
}

interface Entry {
  /** The word above the card. */
  title: string
  /** What the notice says after an answer. */
  done: string
  Card(props: QuestionCardProps): ReactNode
}

/**
 * A card for each kind. A new kind of `src/protocol/pending.ts` does not compile until it has its entry here. Pauses are
 * answered by a resume, not by a word: `PausedCard`.
 */
const CARDS: Readonly<Record<PendingKind, Entry>> = {
  approval: { title: 'Approval', done: 'Decided.', Card: ApprovalCard },
  question: { title: 'Question', done: 'Answered.', Card: QuestionCard },
  unknown_outcome: { title: 'Unknown outcome', done: 'Told.', Card: UnknownOutcomeCard },
}
