/** The moment from which the end of a step may be unknown, where that is not the moment of its claim (durability 2). */
import type { StepId } from './claim.ts'
import { run, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

/** The lock keeps another run from taking over meanwhile: what it does not find begun, it begins itself. */
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
 * Marks a step that was claimed to be prepared as begun; committed when this returns.
 *
 * @returns false: it must not begin. Its lease is lost, or its session is paused, closed or gone over to another run.
 */
export async function beginStep(db: Database, { sessionId, key, gen, lease }: StepId): Promise<boolean> {
  return (await run(db.pool, BEGIN, [sessionId, key, gen, lease])).length === 1
}
