/**
 * Marks the begin of a step that is prepared after its claim. Its end can be unknown only after this mark
 * (durability 2).
 */
import type { StepId } from './claim.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/**
 * The lock keeps another run from taking over meanwhile. Such a run would begin the step itself if it does not find it
 * begun.
 */
const BEGIN: Statement = statement(
  'step_begin',
  `
  with ok as (
    select gen from sessions
    where id = $1 and gen = $3 and pause is null and closed_at is null and closing_at is null
    for key share
  )
  update steps set released = false, begun_at = now() from ok
  where session_id = $1 and step_key = $2 and steps.gen = ok.gen and lease = $4 and outcome is null
  returning lease`,
)

/**
 * Marks a step as begun that was claimed only to be prepared. The mark is committed when this returns.
 *
 * @returns false if the step must not begin: its lease is lost, or its session is paused, closed or has another run now
 */
export async function beginStep(db: Database, { sessionId, key, gen, lease }: StepId): Promise<boolean> {
  return (await run(db.pool, BEGIN, [sessionId, key, gen, lease])).length === 1
}
