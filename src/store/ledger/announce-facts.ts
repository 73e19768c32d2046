/**
 * Tells the store the facts that the workflow owns. A repeated announcement changes nothing, even if it comes late: an
 * attempt may hang while others tell the same facts and more.
 */
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
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
  /** The session must close with its forks, or has closed so. The cascade began here or has reached the session. */
  closing: boolean
}

/**
 * Writes the facts, but ignores two senders: a workflow that was started for a closed session, and a run that another
 * run has replaced. Their facts do not count, and another try would not help.
 */
export async function announceFacts(
  db: Database,
  ref: RunRef,
  { key, writes }: { key: string; writes: Writes },
): Promise<Told> {
  for (;;) {
    const [told] = await run<Told>(db.pool, ANNOUNCE, [ref.sessionId, key, ref.runId, toParameter(writes)])
    if (told) return told
    const resolved = await resolveRun(db, ref)
    if (resolved.kind === 'stale') return { gen: ref.gen, closing: false }
    if (resolved.kind === 'closed') return { gen: resolved.gen, closing: false }
  }
}
