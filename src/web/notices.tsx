/** Short notices in a corner: what has failed, with code and hint, and what has been done. Any code may call `tell`. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { toFailure } from './server/api-failure.ts'

interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
  code?: string
  hint?: string
}

/** A notice of success goes by itself. One of a failure stays until it is read away. */
const DONE_MS = 4000
/** The oldest go first. */
const MOST = 4

let notices: readonly Notice[] = []
let last = 0
const listeners = new Set<() => void>()

/** Says that something was done. */
export function tell(text: string): void {
  const id = add({ kind: 'done', text })
  setTimeout(() => remove(id), DONE_MS)
}

/** Shows what was thrown. */
export function tellFailure(thrown: unknown): void {
  const { code, message, hint } = toFailure(thrown)
  if (notices.some((one) => one.code === code && one.text === message)) return
  add({ kind: 'failed', text: message, code, ...(hint !== undefined && { hint }) })
}

/** Does it, and shows how it fails. @returns whether it was done */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    if (done !== undefined) tell(done)
    return true
  } catch (thrown) {
    tellFailure(thrown)
    return false
  }
}

/** All notices, the newest last. */
export function Notices(): ReactNode {
  const shown = useSyncExternalStore(listen, () => notices)
  return (
    <div className="notices" role="region" aria-label="Notices" aria-live="polite">
      {shown.map(({ id, kind, text, code, hint }) => (
        <div key={id} className={`notice ${kind}`} role={kind === 'failed' ? 'alert' : undefined}>
          {code !== undefined && <p className="code">{code}</p>}
          <button className="bare" onClick={() => remove(id)} aria-label="Dismiss">
            ×
          </button>
          <p>{text}</p>
          {hint !== undefined && <p className="quiet">{hint}</p>}
        </div>
      ))}
    </div>
  )
}

function add(notice: Omit<Notice, 'id'>): number {
  const id = (last += 1)
  set([...notices, { ...notice, id }].slice(-MOST))
  return id
}

function remove(id: number): void {
  set(notices.filter((one) => one.id !== id))
}

function set(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
