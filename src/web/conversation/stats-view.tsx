/** What the session has used, tool by tool. Only a worker can tell. */
import type { ReactNode } from 'react'
import { api } from '../server/api.ts'
import { StatsTable } from '../stats/stats-table.tsx'
import { usePolled } from '../server/use-polled.ts'

const EVERY_MS = 3000

export function StatsView({ sessionId }: { sessionId: string }): ReactNode {
  const { answer, failure } = usePolled(sessionId, api.stats, { everyMs: EVERY_MS })
  if (answer) return <StatsTable stats={answer} />
  return <p className="empty">{failure ? `${failure.message}. ${failure.hint ?? ''}` : 'Loading…'}</p>
}
