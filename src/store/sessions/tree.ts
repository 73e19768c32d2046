/** Which sessions are below a session, and which call waits for a session. */
import { SQL } from '../../protocol/keys.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/**
 * SQL: true if the parent was rewound to a place before the fork and has not forked the session again. The session
 * lives on, but belongs to no tree.
 */
export const ABANDONED = (id: string, parent: string): string => `exists (
  select from events e where e.session_id = ${parent} and e.abandoned and e.type = 'session.forked' and e.data->>'child' = ${id}
    and not exists (
      select from events v where v.session_id = e.session_id and v.key = e.key and v.gen > e.gen and not v.abandoned
        and v.data->>'child' = ${id}))`
const BELOW: Statement = statement(
  'session_below',
  `with recursive below as (
           select id, created_at from sessions where id = $1
           union all
           select s.id, s.created_at from sessions s join below on s.parent_id = below.id
           where not ${ABANDONED('s.id', 's.parent_id')}
         )
         select id from below order by created_at, id`,
)

/** The session and all sessions below it, oldest first, without forks of an abandoned future. */
export async function readSubtree(db: Database, sessionId: string): Promise<string[]> {
  const rows = await run<{ id: string }>(db.pool, BELOW, [sessionId])
  return rows.map((row) => row.id)
}

/** Id of the message that opens a child. Its text is committed together with the call that opens the child. */
export const TASK_MESSAGE = 'task'

const AWAITED: Statement = statement(
  'session_awaited',
  `select s.parent_id as parent, ${SQL.originCall('s.origin')} as key,
           exists (select from messages where session_id = s.id and message_id = $2) as task from sessions s
         where s.id = $1 and ${SQL.isCallOrigin('s.origin', 's.parent_id')} and exists (
           select from steps t where t.session_id = s.parent_id and t.step_key = ${SQL.openingKey(SQL.originCall('s.origin'))})`,
)

/** The parent's call that waits (or waited) for this session's first answer, and the message that asks for it. */
export async function readAwaited(
  db: Database,
  sessionId: string,
): Promise<{ awaited: { parentId: string; callKey: string }; task?: string } | undefined> {
  const values = [sessionId, TASK_MESSAGE]
  const [row] = await run<{ parent: string; key: string; task: boolean }>(db.pool, AWAITED, values)
  return row && { awaited: { parentId: row.parent, callKey: row.key }, ...(row.task && { task: TASK_MESSAGE }) }
}
