/** How many rows of each table PostgreSQL has read so far. It shows costs that the few rows of a test hide. */
import type { Database } from '../../src/store/database/database.ts'

/** Each connection reports its reads only when it is asked, so all of them are asked. */
export async function rowsRead({ pool }: Database): Promise<Map<string, number>> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()))
  for (const client of clients) await client.query('select pg_stat_force_next_flush()')
  for (const client of clients) client.release()
  const { rows } = await pool.query<{ name: string; read: number }>(
    `select relname as name, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_user_tables`,
  )
  return new Map(rows.map(({ name, read }) => [name, read]))
}

/** How many rows of the table `work` reads. */
export async function readBy(db: Database, table: string, work: () => Promise<unknown>): Promise<number> {
  const before = (await rowsRead(db)).get(table) ?? NaN
  await work()
  return ((await rowsRead(db)).get(table) ?? NaN) - before
}
