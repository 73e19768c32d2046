/** The sessions below a session that closes: those that must close too, and those that can be asked to. */
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { ABANDONED } from './tree.ts'

/**
 * A fork locks its parent's row before it checks whether the parent must close. So a marked session gets no more
 * children than those that are found, and marked, next. The order of the ids keeps two cascades from waiting for each
 * other.
 */
const CLOSE_BELOW: Statement = statement(
  'session_close_below',
  `with recursive below as (
           select s.id from sessions s where s.parent_id = $1 and not ${ABANDONED('s.id', 's.parent_id')}
           union all
           select s.id from sessions s join below on s.parent_id = below.id where not ${ABANDONED('s.id', 's.parent_id')}
         ), due as (
           select id from sessions where id in (select id from below) and closing_at is null and closed_at is null
           order by id for no key update
         )
         update sessions set closing_at = now() from due where sessions.id = due.id returning 1`,
)

/** Marks all open sessions below a session: they must close, begin nothing more, and fork nothing more. */
export async function closeBelow(db: Database, sessionId: string): Promise<void> {
  while ((await run(db.pool, CLOSE_BELOW, [sessionId])).length > 0);
}

/** Looks below closed sessions too: only an open session can pass a close on. */
const OPEN_BELOW: Statement = statement(
  'session_open_below',
  `with recursive below as (
           select s.id, s.closed_at from sessions s where s.parent_id = $1 and not ${ABANDONED('s.id', 's.parent_id')}
           union all
           select s.id, s.closed_at from sessions s join below on s.parent_id = below.id
           where below.closed_at is not null and not ${ABANDONED('s.id', 's.parent_id')}
         )
         select id from below where closed_at is null and id > $2 order by id limit $3`,
)

/**
 * The nearest open sessions below a session, which a cascade asks to close first. Forks of an abandoned future are left
 * out. In the order of their ids: all, or `limit` of those after the id `after`.
 */
export async function openChildren(
  db: Database,
  sessionId: string,
  { after = '', limit }: { after?: string | undefined; limit?: number } = {},
): Promise<string[]> {
  const rows = await run<{ id: string }>(db.pool, OPEN_BELOW, [sessionId, after, limit ?? null])
  return rows.map((row) => row.id)
}
