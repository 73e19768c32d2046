/** What `stello migrate` does: it updates the schema and its indexes, without starting a worker. */
import { checkDatabase, openDatabase } from '../store/database/database.ts'
import { updateIndexes } from '../store/schema/indexes.ts'
import { migrate, readSchema } from '../store/schema/migrate.ts'

export interface Migrated {
  /** Name of the newest migration. */
  schema: string
  /** Names of the migrations that were run now. */
  ran: string[]
  /** Indexes that could not be built or dropped. */
  waiting: { index: string; why: string }[]
}

/**
 * Waits without a limit for transactions that block an index.
 *
 * @throws StelloError DATABASE_UNREACHABLE
 */
export async function migrateStore(databaseUrl: string): Promise<Migrated> {
  const db = openDatabase(databaseUrl)
  try {
    await checkDatabase(db)
    const ran = await migrate(db)
    const failed = await updateIndexes(db, { waitMs: 0 })
    const { newest = '' } = await readSchema(db)
    return { schema: newest, ran, waiting: Array.from(failed, ([index, why]) => ({ index, why })) }
  } finally {
    await db.close()
  }
}
