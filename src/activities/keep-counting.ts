/** Tells the metrics, again and again, how the sessions of the agent stand in the store. */
import { countSessions } from '../store/session-counts.ts'
import type { Database } from '../store/database.ts'
import type { Metrics } from './metrics.ts'

const COUNT_EVERY_MS = 15_000

/**
 * While the store does not answer, the numbers stay what they were. Every worker of an agent tells the same.
 *
 * @returns stops it
 */
export function keepCounting(
  db: Database,
  { agent, namespace }: { agent: string; namespace: string },
  metrics: Pick<Metrics, 'sessions'>,
): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let counting: Promise<void>
  const count = async (): Promise<void> => {
    await countSessions(db, agent, namespace).then(metrics.sessions, () => undefined)
    if (!stopped) timer = setTimeout(() => (counting = count()), COUNT_EVERY_MS)
  }
  counting = count()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await counting
  }
}
