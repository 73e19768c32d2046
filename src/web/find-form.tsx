/** Asks what to search for. In the bar; on phones, in the view of the search itself. */
import { useState, type ReactNode } from 'react'
import { go } from './route.ts'

/** @param props.asked what was searched for last; empty: nothing */
export function FindForm({ asked }: { asked: string }): ReactNode {
  const [q, setQ] = useState(asked)
  return (
    <form
      className="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        if (q.trim() !== '') go({ at: 'search', q: q.trim() })
      }}
    >
      <input
        type="search"
        data-key="/"
        aria-label="Search all transcripts"
        placeholder="Search transcripts   /"
        value={q}
        onChange={(event) => setQ(event.target.value)}
      />
    </form>
  )
}
