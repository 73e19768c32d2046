/**
 * Which generation a workflow run belongs to. A generation is one line of history: Temporal rewinding under the store
 * (reset, terminated and started again, a lost database) begins a new one at the step it resumes from.
 */
import type pg from 'pg'
import { StelloError } from '../agent/errors.ts'
import { run, transaction, type Database, type Statement } from './database.ts'

/** What an activity knows of its run. */
export interface RunRef {
  sessionId: string
  runId: string
  /** The run this one continued as new from. */
  prevRunId?: string
  /** The generation the workflow last heard of. */
  gen: number
  /** Last record of the closed part of the transcript: where a new generation would branch. */
  base: number
  /** The turn under way, 0 before the first. */
  turn: number
}

export type ResolvedRun = { kind: 'current'; gen: number } | { kind: 'stale' }

/** One generation on the way back to the first, newest first. `upTo` bounds what is visible of it. */
export interface Ancestor {
  gen: number
  upTo: number
}

const READ: Statement = {
  name: 'run_read',
  text: `select s.gen, s.run_id, exists (select from runs where session_id = s.id and run_id = $2) as known
         from sessions s where id = $1`,
}
const LOCK: Statement = { name: 'run_lock', text: `${READ.text} for update of s` }
const ADOPT: Statement = {
  name: 'run_adopt',
  text: `with adopted as (update sessions set run_id = $2, gen = $3 where id = $1)
         insert into runs (session_id, run_id, gen) values ($1, $2, $3)`,
}
const NEW_GENERATION: Statement = {
  name: 'run_new_generation',
  text: `insert into generations (session_id, gen, parent_gen, branch_seq) values ($1, $2, $3, $4)`,
}
/** The turn under way goes on in the new generation. */
const CARRY_TURN: Statement = {
  name: 'run_carry_turn',
  text: `insert into turns (session_id, gen, turn, message_id, status, start_seq)
         select session_id, $2, turn, message_id, 'open', start_seq from turns
         where session_id = $1 and gen = $3 and turn = $4 and start_seq <= $5`,
}
const LINEAGE: Statement = {
  name: 'run_lineage',
  text: `select gen, parent_gen, branch_seq from generations where session_id = $1`,
}

interface RunRow {
  gen: number
  run_id: string | null
  known: boolean
}

/**
 * Finds, and where the run is new adopts, the run's generation.
 *
 * @throws StelloError STORE_CORRUPT when the session has no row
 */
export async function resolveRun(db: Database, ref: RunRef): Promise<ResolvedRun> {
  const [row] = await run<RunRow>(db.pool, READ, [ref.sessionId, ref.runId])
  if (row && row.run_id === ref.runId) return { kind: 'current', gen: row.gen }
  return transaction(db, (tx) => adopt(tx, ref))
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
  const successor = row.run_id === null || row.run_id === ref.prevRunId
  const gen = successor ? row.gen : row.gen + 1
  if (!successor) {
    // A store that was restored from a copy may be behind the workflow: no generation descends from itself.
    const parent = Math.min(ref.gen, row.gen)
    await run(tx, NEW_GENERATION, [sessionId, gen, parent, ref.base])
    await run(tx, CARRY_TURN, [sessionId, gen, parent, ref.turn, ref.base + 1])
  }
  await run(tx, ADOPT, [sessionId, runId, gen])
  return { kind: 'current', gen }
}

/** The generations whose records are visible in `gen`, newest first. */
export async function lineage(
  on: Pick<pg.PoolClient, 'query'> | pg.Pool,
  sessionId: string,
  gen: number,
): Promise<Ancestor[]> {
  const chain: Ancestor[] = [{ gen, upTo: Number.MAX_SAFE_INTEGER }]
  if (gen === 0) return chain
  const rows = await run<{ gen: number; parent_gen: number; branch_seq: number }>(on, LINEAGE, [sessionId])
  const parents = new Map(rows.map((row) => [row.gen, row]))
  for (let at = parents.get(gen); at; at = parents.get(at.parent_gen)) {
    chain.push({ gen: at.parent_gen, upTo: Math.min(at.branch_seq, chain.at(-1)?.upTo ?? at.branch_seq) })
  }
  return chain
}
