/** Sessions that no workflow has opened. They are only rows in the store, and no other code can end them. */
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/**
 * A root that was never opened has only two rows: the session and its tree. A fork that is being created locks the
 * root's row and counts itself there (`children`).
 */
const FORGET: Statement = statement(
  'session_forget',
  `with gone as (
           delete from sessions where id = $1 and parent_id is null and run_id is null and children = 0
           returning id
         ), tree as (delete from trees where root_id in (select id from gone))
         select id from gone`,
)
/** A workflow that starts later finds the session closed and ends (`src/store/ledger/runs.ts`). */
const CLOSE: Statement = statement(
  'session_close_unopened',
  `update sessions set closed_at = now(), closing_at = coalesce(closing_at, now())
         where id = $1 and run_id is null and closed_at is null returning id`,
)

/** Deletes a root that was just created. @returns false if it was opened or has forks; then it stays */
export async function forgetSession(db: Database, sessionId: string): Promise<boolean> {
  return (await run(db.pool, FORGET, [sessionId])).length > 0
}

/** Closes a session that no workflow has opened. @returns false if it was opened or closed before */
export async function closeUnopened(db: Database, sessionId: string): Promise<boolean> {
  return (await run(db.pool, CLOSE, [sessionId])).length > 0
}
