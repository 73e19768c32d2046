/** A call was begun, and nobody knows how it ended. Only a person can look whether it took effect. */
import { useState, type ReactNode } from 'react'
import type { QuestionCardProps } from './card-props.ts'

/** @param props.item an unknown outcome */
export function UnknownOutcomeCard({ item, busy, answer }: QuestionCardProps): ReactNode {
  const [text, setText] = useState('')
  return (
    <>
      <pre className="arguments">{item.preview}</pre>
      <label>
        <span className="what">If it took effect: what the model reads as the result</span>
        <textarea rows={1} value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <div className="ends">
        <button
          className="primary"
          disabled={busy}
          onClick={() => void answer({ decision: 'done', ...(text.trim() !== '' && { text }) })}
        >
          It took effect
        </button>
        <button disabled={busy} onClick={() => void answer({ decision: 'not_done' })}>
          It did not
        </button>
        <button className="danger" disabled={busy} onClick={() => void answer({ decision: 'retry' })}>
          Run it again
        </button>
      </div>
    </>
  )
}
