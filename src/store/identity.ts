/** Which store this is, and by which sessions it is known to be the right one. */
import { isStelloError } from '../core/errors.ts'
import { run, sqlState, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

const READ: Statement = statement('identity_read', 'select identity::text from store')
/** Also those that are closed: an idle store is no wrong one. */
const NEWEST: Statement = statement(
  'sessions_newest',
  `select id from sessions where agent = $1 and coalesce(namespace, $2) = $2 order by created_at desc limit $3`,
)
const UNDEFINED_TABLE = '42P01'

/** @returns undefined where the database holds no store, such as one that was put in its place */
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

/** Ids of the sessions of an agent that were made last, newest first. */
export async function newestSessions(
  db: Database,
  { agent, namespace }: { agent: string; namespace: string },
  limit: number,
): Promise<string[]> {
  const rows = await run<{ id: string }>(db.pool, NEWEST, [agent, namespace, limit])
  return rows.map(({ id }) => id)
}
