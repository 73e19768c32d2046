/**
 * Pauses the part of a tree that signals cannot reach: forks that are being created at that moment, and sessions that
 * no run has opened yet.
 */
import type { Pause } from '../../core/pause.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { ABANDONED } from './tree.ts'

const BELOW = `
  with recursive below as (
    select id from sessions where id = $1
    union all
    select s.id from sessions s join below on s.parent_id = below.id where not ${ABANDONED('s.id', 's.parent_id')}
  )`
/** Locks in the order of ids, so that two such requests do not wait for each other. */
const MARK = (change: string, due: string): string => `${BELOW}, due as (
    select id from sessions where id in (select id from below) and ${due} order by id for no key update
  )
  update sessions set pauses_forks = ${change} from due where sessions.id = due.id returning 1`
/** Marks closed sessions too, because a closed session may be forked. */
const HOLD: Statement = statement('tree_hold', MARK('$2::jsonb', 'pauses_forks is null'))
const RELEASE: Statement = statement('tree_release', MARK('null', 'pauses_forks is not null'))
const UNOPENED: Statement = statement(
  'tree_unopened',
  `${BELOW} select stello_hold(id, $2::jsonb) from (
           select id from sessions where id in (select id from below) and run_id is null order by id) unopened`,
)
const OPEN: Statement = statement(
  'tree_open',
  `${BELOW} select id, run_id is not null as opened from sessions
         where id in (select id from below) and closed_at is null order by depth, created_at, id`,
)

/**
 * From now on, forks in the session and below it begin paused. Sessions that no run has opened yet are paused at once.
 */
export async function holdTree(db: Database, sessionId: string, pause: Pause): Promise<void> {
  await mark(db, HOLD, [sessionId, JSON.stringify(pause)])
  await run(db.pool, UNOPENED, [sessionId, JSON.stringify(pause)])
}

/** Undoes `holdTree`. */
export async function releaseTree(db: Database, sessionId: string): Promise<void> {
  await mark(db, RELEASE, [sessionId])
  await run(db.pool, UNOPENED, [sessionId, null])
}

/** Repeats until nothing changes: a fork that was being created during one look is seen by the next. */
async function mark(db: Database, statement: Statement, values: unknown[]): Promise<void> {
  while ((await run(db.pool, statement, values)).length > 0);
}

/** A session that is not closed. `opened`: a run has opened it. */
export interface OpenSession {
  id: string
  opened: boolean
}

/** All open sessions of the tree below a session, itself included, parents first. Also those below a closed session. */
export async function openInTree(db: Database, sessionId: string): Promise<OpenSession[]> {
  return run(db.pool, OPEN, [sessionId])
}
