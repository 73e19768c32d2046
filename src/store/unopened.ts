/** Sessions that no workflow has opened: what stands of them in the store is a row, which nobody else can end. */
import { run, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

/** Nothing but the rows of the session itself and of its tree knows of a root that was never opened. */
const FORGET: Statement = statement(
  'session_forget',
  `with gone as (
           delete from sessions s where id = $1 and parent_id is null and run_id is null
             and not exists (select from sessions c where c.parent_id = s.id)
           returning id
         ), tree as (delete from trees where root_id in (select id from gone))
         select id from gone`,
)
/** A workflow that is started later finds it closed, and ends (`src/store/runs.ts`). */
const CLOSE: Statement = statement(
  'session_close_unopened',
  `update sessions set closed_at = now(), closing_at = coalesce(closing_at, now())
         where id = $1 and run_id is null and closed_at is null returning id`,
)

/** Takes back a root that was just created. @returns false: it was opened, or has forks, and stays */
export async function forgetSession(db: Database, sessionId: string): Promise<boolean> {
  return (await run(db.pool, FORGET, [sessionId])).length > 0
}

/** @returns false: it was opened, or closed, before */
export async function closeUnopened(db: Database, sessionId: string): Promise<boolean> {
  return (await run(db.pool, CLOSE, [sessionId])).length > 0
}
