/** Finds the sessions that a person may mean by a text. Must never guess: the caller decides what to do with several. */
import { clean } from '../../core/clean.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/** Enough to show that a text is ambiguous. */
const MOST = 10
/** In the order of bytes, an id with this at its end stands behind every id with the same beginning. */
const LAST_CHARACTER = '\u{10FFFF}'

const FIND: Statement = statement(
  'sessions_find',
  `with named as (
     select id, created_at, case
         when id = $1 then 0
         when label = $1 and closed_at is null then 1
         when id ~>=~ $1 and id ~<~ $2 then 2
         else 3 end as rank
       from sessions where id = $1 or label = $1 or (id ~>=~ $1 and id ~<~ $2)
   )
   select id from named where rank = (select min(rank) from named) order by created_at desc, id limit $3`,
)

/**
 * The order is: id, label of an open session, beginning of an id, label of a closed session. So a complete id always
 * means its session, and a reused label means the open one.
 *
 * @returns ids, newest session first, at most ten
 */
export async function findSessions(db: Database, text: string): Promise<string[]> {
  const wanted = clean(text)
  if (wanted === '') return []
  const rows = await run<{ id: string }>(db.pool, FIND, [wanted, wanted + LAST_CHARACTER, MOST])
  return rows.map(({ id }) => id)
}
