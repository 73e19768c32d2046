/** Writers at the same moment. */
import type { Database } from '../../src/store/database/database.ts'
import { until } from './until.ts'

const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

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
  const ended = second().catch((error: unknown) => error)
  await untilWaiting(db, 1)
  await tx.query('commit')
  tx.release()
  return ended
}

/**
 * Holds back what writes to a session. Claims pass.
 *
 * @returns lets the writers go at the same moment, as soon as so many wait
 */
export async function holdWriters(db: Database, sessionId: string): Promise<(writers: number) => Promise<void>> {
  const tx = await db.pool.connect()
  await tx.query('begin')
  await tx.query('select from sessions where id = $1 for no key update', [sessionId])
  return async (writers) => {
    await untilWaiting(db, writers)
    await tx.query('commit')
    tx.release()
  }
}

/** Resolves when so many statements wait for others. */
export async function untilWaiting(db: Database, statements: number): Promise<void> {
  await until(`${statements} wait`, async () => (await db.pool.query(WAITING)).rowCount === statements)
}
