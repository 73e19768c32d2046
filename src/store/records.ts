/** Reading transcripts: the own records of a session and, for a fork that inherits, those of its parents. Never writes. */
import { StelloError } from '../agent/errors.ts'
import type { Message } from '../agent/message.ts'
import type { Branch } from '../session/config.ts'
import { run, type Database, type Statement } from './database.ts'

export interface StoredRecord {
  seq: number
  message: Message
  chain: string
}

const OWN: Statement = {
  name: 'records_own',
  text: `select distinct on (seq) r.seq, r.message, r.chain from records r
         join stello_line($1, $2) line on r.gen = line.gen and r.seq <= line.up_to
         where r.session_id = $1 and r.seq > $3 and r.seq <= $4 order by seq, r.gen desc`,
}
const BRANCH: Statement = {
  name: 'records_branch',
  text: `select branch_session, branch_gen, branch_seq from sessions where id = $1`,
}
const END: Statement = {
  name: 'records_end',
  text: `select coalesce(max(r.seq), 0)::int as last from records r
         join stello_line($1, $2) line on r.gen = line.gen and r.seq <= line.up_to where r.session_id = $1`,
}
const WHOLE: Statement = {
  name: 'records_whole',
  text: `select r.message, r.whole, r.at from records r
         join stello_line($1, $2) line on r.gen = line.gen and r.seq <= line.up_to
         where r.session_id = $1 and r.seq = $3 order by r.gen desc limit 1`,
}

/**
 * The session's own records after `from` up to `upTo`: of each the one of the nearest generation.
 *
 * @throws StelloError STORE_CORRUPT naming the first record that is missing
 */
export async function readOwnRecords(db: Database, at: Branch, from = 0): Promise<StoredRecord[]> {
  if (at.seq <= from) return []
  const rows = await run<{ seq: number; message: Message; chain: string }>(db.pool, OWN, [
    at.sessionId,
    at.gen,
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

/** Last record that is visible in a generation. */
export async function lastSeq(db: Database, sessionId: string, gen: number): Promise<number> {
  const [row] = await run<{ last: number }>(db.pool, END, [sessionId, gen])
  return row?.last ?? 0
}

/** One record as it was written, also where the model reads a cut one. */
export async function readWholeRecord(
  db: Database,
  at: Branch,
): Promise<{ message: Message; whole?: string; at: Date } | undefined> {
  const [row] = await run<{ message: Message; whole: string | null; at: Date }>(db.pool, WHOLE, [
    at.sessionId,
    at.gen,
    at.seq,
  ])
  return row && { message: row.message, at: row.at, ...(row.whole !== null && { whole: row.whole }) }
}
