/**
 * Facts the workflow owns, told to the store; a repeated announcement changes nothing, however late it comes: an attempt
 * may hang while others tell the same and more.
 */
import { run, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'
import { resolveRun } from './runs.ts'
import { type RunRef } from './abandon-future.ts'
import { toParameter, writesSql, type Writes } from './writes.ts'

/** The lock keeps another run from taking over meanwhile. */
const ANNOUNCE: Statement = statement(
  'announce',
  `
  with guard as (
    select gen from sessions where id = $1 and run_id = $3 for key share
  ), ${writesSql({ session: '$1', key: '$2', writes: '$4::jsonb', records: 'once' })}
  select gen, closing from w_session`,
)

export interface Told {
  gen: number
  /** The session is to close with its forks, or has: a cascade begins with it, or came by. */
  closing: boolean
}

/**
 * A closed session is told nothing by a workflow that was started for it, nor is any by a run that was left behind: what
 * that has to tell is of no account, and to say it again would not help.
 */
export async function announceFacts(db: Database, ref: RunRef, key: string, writes: Writes): Promise<Told> {
  for (;;) {
    const [told] = await run<Told>(db.pool, ANNOUNCE, [ref.sessionId, key, ref.runId, toParameter(writes)])
    if (told) return told
    const resolved = await resolveRun(db, ref)
    if (resolved.kind === 'stale') return { gen: ref.gen, closing: false }
    if (resolved.kind === 'closed') return { gen: resolved.gen, closing: false }
  }
}
