/** Everything that waits for a person, in all sessions, oldest first. */
import { useState, type ReactNode } from 'react'
import type { Polled } from '../server/use-polled.ts'
import type { Waiting } from '../server/wire.ts'
import { keyOfWaiting, WaitingCard } from './waiting-card.tsx'

/** @param props.inbox what the bar counts too */
export function InboxPage({ inbox }: { inbox: Polled<Waiting[]> }): ReactNode {
  const { answer: items, failure, again } = inbox
  /** Answered here, and perhaps still in an answer that was under way. */
  const [done, setDone] = useState<ReadonlySet<string>>(new Set())
  const shown = items?.filter((item) => !done.has(stampOf(item)))
  return (
    <div className="narrow">
      <div className="head">
        <h1>Inbox</h1>
        {shown && shown.length > 0 && <span className="quiet">{countOf(shown)}</span>}
      </div>
      {!shown && <p className="empty">{failure ? failure.message : 'Loading…'}</p>}
      {shown?.length === 0 && <p className="empty">Nothing waits for you.</p>}
      <div className="waiting-list">
        {shown?.map((item) => (
          <WaitingCard
            key={keyOfWaiting(item)}
            item={item}
            place
            onDone={() => {
              setDone((before) => new Set(before).add(stampOf(item)))
              again()
            }}
          />
        ))}
      </div>
    </div>
  )
}

/** The same session may pause again: that is another item. */
function stampOf(item: Waiting): string {
  return `${keyOfWaiting(item)}/${item.at}`
}

function countOf(items: readonly Waiting[]): string {
  const pauses = items.filter(({ kind }) => kind === 'paused').length
  const questions = items.length - pauses
  const parts = [
    questions > 0 ? `${questions} ${questions === 1 ? 'question' : 'questions'}` : '',
    pauses > 0 ? `${pauses} paused` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
