import type { Database } from '../../src/store/database/database.ts'
import { until } from './until.ts'

/** Resolves when a living worker has made a whole search for dead workers. */
export async function lookedForTheDead({ pool }: Database): Promise<void> {
  for (const bootId of ['1', '2']) {
    await pool.query(
      `with known as (insert into workers (boot_id, agent, namespace) select $1, 'nobody', namespace from workers limit 1)
       insert into holders (boot_id, server) select $1, server from holders limit 1 on conflict do nothing`,
      [bootId],
    )
    await until('a round of taking over', async () => {
      const { rows } = await pool.query('select from workers where boot_id = $1', [bootId])
      return rows.length === 0
    })
  }
}
