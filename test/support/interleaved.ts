/** Two writers at the same moment. */
import type { Database } from '../../src/store/database.ts'
import { until } from './until.ts'

/**
 * Does `first` in a transaction that ends only when `second` waits for it.
 *
 * @returns the result of `second`, or its error
 */
export async function interleaved(
  db: Database,
  first: [sql: string, values: unknown[]],
  second: () => Promise<unknown>,
): Promise<unknown> {
  const tx = await db.pool.connect()
  await tx.query('begin')
  await tx.query(...first)
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const ended = second().catch((error: unknown) => error)
  await until('the second waits', async () => (await db.pool.query(waits)).rowCount === 1)
  await tx.query('commit')
  tx.release()
  return ended
}
