/** Reading transcripts: the own records of a session and, for a fork that inherits, those of its parents. Never writes. */
import { StelloError } from '../agent/errors.ts'
import type { Message } from '../agent/message.ts'
import type { Branch } from '../session/config.ts'
import { run, type Database, type Statement } from './database.ts'
import { lineage } from './runs.ts'

export interface StoredRecord {
  seq: number
  message: Message
  chain: string
}

const OWN: Statement = {
  name: 'records_own',
  text: `select distinct on (seq) seq, message, chain from records
         where session_id = $1 and gen = any($2) and seq > $3 and seq <= $4 order by seq, gen desc`,
}
const BRANCH: Statement = {
  name: 'records_branch',
  text: `select branch_session, branch_gen, branch_seq from sessions where id = $1`,
}
const END: Statement = {
  name: 'records_end',
  text: `select coalesce(max(seq), 0)::int as last from records where session_id = $1 and gen = $2`,
}
const WHOLE: Statement = {
  name: 'records_whole',
  text: `select message, whole, at from records where session_id = $1 and gen = any($2) and seq = $3 order by gen desc limit 1`,
}

/**
 * The session's own records after `from` up to `upTo`: of each the one of the nearest generation.
 *
 * @throws StelloError STORE_CORRUPT naming the first record that is missing
 */
export async function readOwnRecords(db: Database, at: Branch, from = 0): Promise<StoredRecord[]> {
  if (at.seq <= from) return []
  const gens = (await lineage(db.pool, at.sessionId, at.gen)).map((ancestor) => ancestor.gen)
  const rows = await run<{ seq: number; message: Message; chain: string }>(db.pool, OWN, [
    at.sessionId,
    gens,
    from,
    at.seq,
  ])
  const gap = rows.findIndex((row, i) => row.seq !== from + 1 + i)
  const missing = gap === -1 ? from + 1 + rows.length : from + 1 + gap
  if (missing <= at.seq) {
    throw new StelloError(
      'STORE_CORRUPT',
      `session ${at.sessionId}: record ${missing} (generation ${at.gen}) is missing in the store`,
      {
        hint: 'restore the record from a backup, or fork the session before it',
      },
    )
  }
  return rows
}

/** Everything a transcript begins with that is not its own: the parents' records up to where each branched. */
export async function readInherited(db: Database, sessionId: string): Promise<StoredRecord[]> {
  const parts: StoredRecord[][] = []
  for (let at = await readBranch(db, sessionId); at; at = await readBranch(db, at.sessionId)) {
    parts.unshift(await readOwnRecords(db, at))
  }
  return parts.flat()
}

async function readBranch(db: Database, sessionId: string): Promise<Branch | undefined> {
  interface Row {
    branch_session: string | null
    branch_gen: number | null
    branch_seq: number | null
  }
  const [row] = await run<Row>(db.pool, BRANCH, [sessionId])
  if (!row?.branch_session) return undefined
  return { sessionId: row.branch_session, gen: row.branch_gen ?? 0, seq: row.branch_seq ?? 0 }
}

/** Last record of a generation: where it branched, or its own last. */
export async function lastSeq(db: Database, sessionId: string, gen: number): Promise<number> {
  const [row] = await run<{ last: number }>(db.pool, END, [sessionId, gen])
  const [, parent] = await lineage(db.pool, sessionId, gen)
  return Math.max(row?.last ?? 0, parent ? parent.upTo : 0)
}

/** One record as it was written, also where the model reads a cut one. */
export async function readWholeRecord(
  db: Database,
  at: Branch,
): Promise<{ message: Message; whole?: string; at: Date } | undefined> {
  const gens = (await lineage(db.pool, at.sessionId, at.gen)).map((ancestor) => ancestor.gen)
  const [row] = await run<{ message: Message; whole: string | null; at: Date }>(db.pool, WHOLE, [
    at.sessionId,
    gens,
    at.seq,
  ])
  return row && { message: row.message, at: row.at, ...(row.whole !== null && { whole: row.whole }) }
}
