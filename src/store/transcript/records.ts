/** Reads transcripts: a session's own records and, for a fork that inherits, the records of its parents. It never writes. */
import { StelloError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Branch } from '../../protocol/config.ts'
import { run, type Database } from '../database/database.ts'
import type { Shown } from './from-records.ts'
import { statement, type Statement } from '../database/statement.ts'

export interface StoredRecord {
  seq: number
  message: Message
  chain: string
  /** Only for an answer: how many tokens its provider counted for one of our estimate. Null: it has not said. */
  density?: number | null
}

/** A session as one of its generations sees it. */
export type Generation = Pick<Branch, 'sessionId' | 'gen'>

/** The biggest `integer` of PostgreSQL. */
export const LAST_SEQ: number = 2 ** 31 - 1

/**
 * `offset 0` makes PostgreSQL look up each generation by the whole key, so it never reads all records of the session.
 */
const OWN: Statement = statement(
  'records_own',
  `select distinct on (r.seq) r.seq, r.message, r.chain, r.density from stello_line($1, $2) line, lateral (
           select * from records
           where session_id = $1 and gen = line.gen and seq > $3 and seq <= least($4, line.up_to) offset 0
         ) r order by r.seq, r.gen desc`,
)
const BRANCH: Statement = statement(
  'records_branch',
  `select branch_session, branch_gen, branch_seq from sessions where id = $1`,
)
const END: Statement = statement(
  'records_end',
  `select coalesce(max(r.seq), 0)::int as last from stello_line($1, $2) line,
           lateral (select max(seq) as seq from records where session_id = $1 and gen = line.gen and seq <= line.up_to) r`,
)
const WHOLE: Statement = statement(
  'records_whole',
  `select r.message, r.whole, r.at from stello_line($1, $2) line,
           lateral (select * from records where session_id = $1 and gen = line.gen and seq = $3 offset 0) r
         where r.seq <= line.up_to order by r.gen desc limit 1`,
)

/**
 * SQL: the recursive CTE `line(n, id, gen, seq)`: the parts of a session's transcript. The session itself comes first
 * (n = 0), then the session that each one branched from.
 */
export const LINEAGE = (session: string): string => `line(n, id, gen, seq) as (
    select 0, id, gen, ${LAST_SEQ} from sessions where id = ${session}
    union all
    select n + 1, s.branch_session, coalesce(s.branch_gen, 0), coalesce(s.branch_seq, 0)
    from line join sessions s on s.id = line.id where s.branch_session is not null
  )`

/** SQL: the beginnings of the records that a row of `steps` has written, for `wholeOutcome`. */
export const WROTE = `(
  select jsonb_agg(jsonb_build_object('seq', r.seq, 'message', stello_shown(r.message)) order by r.seq) from records r
  where r.session_id = steps.session_id and r.gen = steps.gen and r.seq between steps.first_seq and steps.last_seq)`
export type Wrote = { seq: number; message: Shown }[] | null

/**
 * The session's own records after `from` and up to `at.seq`. Each one is taken from the nearest generation.
 *
 * @throws StelloError STORE_CORRUPT naming the first record that is missing
 */
export async function readOwnRecords(db: Database, at: Branch, from = 0): Promise<StoredRecord[]> {
  if (at.seq <= from) return []
  const rows = await run<StoredRecord>(db.pool, OWN, [at.sessionId, at.gen, from, at.seq])
  const gap = rows.findIndex((row, i) => row.seq !== from + 1 + i)
  const missing = gap === -1 ? from + 1 + rows.length : from + 1 + gap
  if (missing <= at.seq) throw isMissing(at, missing)
  return rows
}

/**
 * The session's own records after `from` that exist so far. The calls of a round end in any order, so results of the
 * last round may still be missing.
 *
 * @throws StelloError STORE_CORRUPT naming a record that is missing for good
 */
export async function readRecordsSoFar(
  db: Database,
  { sessionId, gen }: Generation,
  from = 0,
): Promise<StoredRecord[]> {
  const rows = await run<StoredRecord>(db.pool, OWN, [sessionId, gen, from, LAST_SEQ])
  // All of them are results. The record that asked for them lies before `from`, so their number is not known here.
  if (from > 0 && rows.every((row) => row.message.role === 'tool')) return rows
  const asking = rows.findLast((row) => (row.message.toolCalls?.length ?? 0) > 0)
  const last = rows.at(-1)?.seq ?? from
  const underWay = asking && last <= asking.seq + (asking.message.toolCalls?.length ?? 0)
  const seqs = new Set(rows.map((row) => row.seq))
  for (let seq = from + 1; seq < (underWay ? asking.seq : last); seq++) {
    if (!seqs.has(seq)) throw isMissing({ sessionId, gen }, seq)
  }
  return rows
}

function isMissing({ sessionId, gen }: Generation, seq: number): StelloError {
  return new StelloError(
    'STORE_CORRUPT',
    `session ${sessionId}: record ${seq} (generation ${gen}) is missing in the store`,
    { hint: 'restore the record from a backup, then resume the session' },
  )
}

/** The inherited records at the beginning of a transcript: the records of the parents, up to each branch. */
export async function readInherited(db: Database, sessionId: string): Promise<StoredRecord[]> {
  const parts: StoredRecord[][] = []
  for (let at = await readBranch(db, sessionId); at; at = await readBranch(db, at.sessionId)) {
    parts.unshift(await readOwnRecords(db, at))
  }
  return parts.flat()
}

export async function readBranch(db: Database, sessionId: string): Promise<Branch | undefined> {
  interface Row {
    branch_session: string | null
    branch_gen: number | null
    branch_seq: number | null
  }
  const [row] = await run<Row>(db.pool, BRANCH, [sessionId])
  if (!row?.branch_session) return undefined
  return { sessionId: row.branch_session, gen: row.branch_gen ?? 0, seq: row.branch_seq ?? 0 }
}

/** The last record that is visible in a generation. */
export async function lastSeq(db: Database, { sessionId, gen }: Generation): Promise<number> {
  const [row] = await run<{ last: number }>(db.pool, END, [sessionId, gen])
  return row?.last ?? 0
}

/** One record as it was written, even if the model reads a cut one. */
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
