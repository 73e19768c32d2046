/**
 * Facts the workflow owns, told to the store; a repeated announcement changes nothing, however late it comes: an attempt
 * may hang while others tell the same and more.
 */
import { StelloError } from '../agent/errors.ts'
import { run, type Database, type Statement } from './database.ts'
import { resolveRun, type RunRef } from './runs.ts'
import { toParameter, writesSql, type Writes } from './writes.ts'

/** The lock keeps another run from taking over meanwhile. */
const ANNOUNCE: Statement = {
  name: 'announce',
  text: `
  with guard as (
    select gen from sessions where id = $1 and run_id = $3 for key share
  ), ${writesSql({ session: '$1', key: '$2', writes: '$4::jsonb', records: 'once' })}
  select gen from guard`,
}

/** A closed session is told nothing by a workflow that was started for it. @returns the session's generation */
export async function announceFacts(db: Database, ref: RunRef, key: string, writes: Writes): Promise<number> {
  for (;;) {
    const [told] = await run<{ gen: number }>(db.pool, ANNOUNCE, [ref.sessionId, key, ref.runId, toParameter(writes)])
    if (told) return told.gen
    const resolved = await resolveRun(db, ref)
    if (resolved.kind === 'stale') throw new StelloError('STORE_CORRUPT', 'another run of this session has taken over')
    if (resolved.kind === 'closed') return resolved.gen
  }
}
