/** Updates the metrics about the sessions of the agent from the store, again and again. */
import { countSessions } from '../store/sessions/session-counts.ts'
import type { Database } from '../store/database/database.ts'
import { keepDoing } from './keep-doing.ts'
import type { Metrics } from '../activities/metrics.ts'

const COUNT_EVERY_MS = 15_000

/**
 * While the store does not answer, the numbers do not change. Every worker of an agent reports the same numbers.
 *
 * @returns a function that stops it
 */
export function keepCounting(
  db: Database,
  { agent, namespace }: { agent: string; namespace: string },
  metrics: Pick<Metrics, 'sessions'>,
): () => Promise<void> {
  const count = (): Promise<void> => countSessions(db, agent, namespace).then(metrics.sessions, () => undefined)
  return keepDoing(count, COUNT_EVERY_MS)
}
