/** Tells the metrics, again and again, how the sessions of the agent stand in the store. */
import { countSessions } from '../store/session-counts.ts'
import type { Database } from '../store/database.ts'
import { keepDoing } from './keep-doing.ts'
import type { Metrics } from '../activities/metrics.ts'

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
  const count = (): Promise<void> => countSessions(db, agent, namespace).then(metrics.sessions, () => undefined)
  return keepDoing(count, COUNT_EVERY_MS)
}
