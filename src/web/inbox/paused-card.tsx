/** A session is paused: why, what to do first, and the button that goes on. */
import type { ReactNode } from 'react'
import { PlainText } from '../plain-text.tsx'
import { useNow } from '../use-now.ts'
import { span } from '../tree/doing.ts'
import type { PauseCardProps } from './card-props.ts'

/** @param props.item a pause */
export function PausedCard({ item, busy, resume }: PauseCardProps): ReactNode {
  const now = useNow(1000)
  const { hint, nextTryAt } = item
  const wait = nextTryAt === undefined ? undefined : Date.parse(nextTryAt) - now
  return (
    <>
      {hint !== undefined && (
        <p className="quiet">
          <PlainText text={hint} />
        </p>
      )}
      {wait !== undefined && (
        <p className="quiet num">{wait > 0 ? `It tries by itself in ${span(wait)}.` : 'It tries by itself now.'}</p>
      )}
      <div className="ends">
        <button className="primary" disabled={busy} onClick={() => void resume({})}>
          Resume
        </button>
        <button disabled={busy} onClick={() => void resume({ tree: true })}>
          Resume with everything below
        </button>
      </div>
    </>
  )
}
