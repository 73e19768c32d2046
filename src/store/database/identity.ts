/** The identity of this store, and the sessions by which a worker recognises it as the right one. */
import { isStelloError } from '../../core/errors.ts'
import { run, sqlState, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

const READ: Statement = statement('identity_read', 'select identity::text from store')
/** Closed sessions count too: an idle store is not a wrong one. */
const NEWEST: Statement = statement(
  'sessions_newest',
  `select id from sessions where agent = $1 and coalesce(namespace, $2) = $2 order by created_at desc limit $3`,
)
const UNDEFINED_TABLE = '42P01'

/** @returns undefined when the database contains no store, for example one that took the store's place */
export async function readIdentity(db: Database): Promise<string | undefined> {
  try {
    const [row] = await run<{ identity: string }>(db.pool, READ, [])
    return row?.identity
  } catch (error) {
    const cause = isStelloError(error) ? error.cause : undefined
    if (cause instanceof Error && sqlState(cause) === UNDEFINED_TABLE) return undefined
    throw error
  }
}

/** Ids of the newest sessions of an agent, newest first. */
export async function newestSessions(
  db: Database,
  { agent, namespace }: { agent: string; namespace: string },
  limit: number,
): Promise<string[]> {
  const rows = await run<{ id: string }>(db.pool, NEWEST, [agent, namespace, limit])
  return rows.map(({ id }) => id)
}
