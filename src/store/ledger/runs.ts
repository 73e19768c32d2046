/**
 * Finds the generation that a workflow run belongs to. A generation is one line of history. Temporal may fall behind
 * the store: by a reset, by a terminated workflow that is started again, or by a lost database. Then a new generation
 * begins at the step where the run goes on.
 */
import type pg from 'pg'
import { StelloError } from '../../core/errors.ts'
import { run, transaction, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { abandonFuture, type RunRef } from './abandon-future.ts'

export type ResolvedRun =
  | { kind: 'current'; gen: number }
  /** Another run has taken over. */
  | { kind: 'stale' }
  /** Somebody started a workflow for a closed session. It is not the session's run, and nothing is written for it. */
  | { kind: 'closed'; gen: number }

const READ: Statement = statement(
  'run_read',
  `select s.gen, s.run_id, s.closed_at is not null as closed, exists (select from runs where session_id = s.id and run_id = $2) as known
         from sessions s where id = $1`,
)
const LOCK: Statement = statement('run_lock', `${READ.text} for update of s`)
const ADOPT: Statement = statement(
  'run_adopt',
  `with adopted as (update sessions set run_id = $2, gen = $3, namespace = $4 where id = $1)
         insert into runs (session_id, run_id, gen) values ($1, $2, $3)`,
)

interface RunRow {
  gen: number
  run_id: string | null
  closed: boolean
  known: boolean
}

/**
 * Finds the run's generation. A new run is adopted first.
 *
 * @throws StelloError STORE_CORRUPT when the session has no row
 */
export async function resolveRun(db: Database, ref: RunRef): Promise<ResolvedRun> {
  const [row] = await run<RunRow>(db.pool, READ, [ref.sessionId, ref.runId])
  if (row && row.run_id === ref.runId) return { kind: 'current', gen: row.gen }
  return transaction(db, (tx) => adopt(tx, ref))
}

/** @returns the generation of the current run @throws StelloError STORE_CORRUPT when this is not the current run */
export async function mustBeCurrent(db: Database, ref: RunRef): Promise<number> {
  const resolved = await resolveRun(db, ref)
  if (resolved.kind === 'current') return resolved.gen
  throw new StelloError('STORE_CORRUPT', 'another run of this session has taken over')
}

/** Whether another run has taken over from this one. */
export async function isLeftBehind(db: Database, sessionId: string, runId: string): Promise<boolean> {
  const [row] = await run<RunRow>(db.pool, READ, [sessionId, runId])
  return row !== undefined && row.known && row.run_id !== runId
}

async function adopt(tx: pg.PoolClient, ref: RunRef): Promise<ResolvedRun> {
  const { sessionId, runId } = ref
  const [row] = await run<RunRow>(tx, LOCK, [sessionId, runId])
  if (!row) {
    throw new StelloError('STORE_CORRUPT', `session ${sessionId} has no row in the store`, {
      hint: 'restore the database, or close the session in Temporal',
    })
  }
  if (row.run_id === runId) return { kind: 'current', gen: row.gen }
  if (row.known) return { kind: 'stale' }
  if (row.closed && ref.fresh) return { kind: 'closed', gen: row.gen }
  const successor = row.run_id === null || row.run_id === ref.prevRunId
  // The row is locked while we ask, so no newer run can come between the answer and the adoption.
  if (!successor && !(await ref.isNewest())) return { kind: 'stale' }
  const gen = successor ? row.gen : row.gen + 1
  await run(tx, ADOPT, [sessionId, runId, gen, ref.namespace])
  // If the store was restored from a copy, the workflow may know a later generation than the store. A generation must
  // not be its own parent, so the earlier one of the two is the parent.
  if (!successor) await abandonFuture(tx, ref, { gen, parent: ref.fresh ? row.gen : Math.min(ref.gen, row.gen) })
  return { kind: 'current', gen }
}
