/** What a person can do with a session: with it alone, or with everything below it too. */
import { useState, type ReactNode } from 'react'
import { api } from '../server/api.ts'
import { attempt } from '../notices.tsx'
import type { Session } from '../server/wire.ts'
import { ForkDialog } from './fork-dialog.tsx'

interface SessionActionsProps {
  session: Session
  /** It has forks. */
  hasForks: boolean
  running: boolean
  /** Something was done: what is shown may be old. */
  onDone(): void
}

export function SessionActions({ session, hasForks, running, onDone }: SessionActionsProps): ReactNode {
  const [whole, setWhole] = useState(false)
  const [forking, setForking] = useState(false)
  const { id, state } = session
  const closed = state === 'closed'
  const tree = whole && hasForks
  const far = tree ? { tree: true } : {}
  const does = (work: () => Promise<unknown>, done: string) => () => void attempt(work, done).then(onDone)
  const close = (): void => {
    const what = tree ? 'this session and everything below it' : 'this session'
    if (confirm(`Close ${what}? That cannot be undone.`)) does(() => api.close(id, { cascade: tree }), 'Closed.')()
  }
  return (
    <div className="session-actions" role="group" aria-label="Session">
      {hasForks && (
        <label className="whole" title="Pause, resume, cancel and close reach everything below too">
          <input type="checkbox" checked={whole} onChange={(event) => setWhole(event.target.checked)} /> whole tree
        </label>
      )}
      {!closed && (state !== 'paused' || tree) && (
        <button onClick={does(() => api.pause(id, far), tree ? 'Pausing the tree.' : 'Pausing.')}>Pause</button>
      )}
      {!closed && (state === 'paused' || tree) && (
        <button onClick={does(() => api.resume(id, far), tree ? 'Resuming the tree.' : 'Resuming.')}>Resume</button>
      )}
      {!closed && (running || tree) && (
        <button onClick={does(() => api.cancel(id, far), 'Cancelling.')}>Cancel turn</button>
      )}
      {!closed && <button onClick={() => setForking(true)}>Fork</button>}
      {(!closed || tree) && (
        <button className="danger" onClick={close}>
          Close
        </button>
      )}
      {session.temporalLink !== undefined && /^https?:\/\//.test(session.temporalLink) && (
        <a
          className="button bare-link"
          aria-label="Temporal"
          href={session.temporalLink}
          target="_blank"
          rel="noopener noreferrer"
        >
          <span className="on-wide">Temporal</span> ↗
        </a>
      )}
      {forking && <ForkDialog sessionId={id} onClose={() => (setForking(false), onDone())} />}
    </div>
  )
}
