/** The view of one session. */
import type { ReactNode } from 'react'

/** @param props.sessionId the session that the address names */
export function SessionPage({ sessionId }: { sessionId: string }): ReactNode {
  return <h1>{sessionId}</h1>
}
