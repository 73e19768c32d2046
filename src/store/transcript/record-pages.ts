/**
 * Reads a transcript in pages, inherited part first. A page is bounded in records and in bytes, and only its own
 * records are read, however long the transcript is. It never writes.
 */
import type { Message } from '../../core/message.ts'
import type { Branch } from '../../protocol/config.ts'
import { run, type Database } from '../database/database.ts'
import { findSummary } from './load-transcript.ts'
import { LAST_SEQ, LINEAGE, lastSeq } from './records.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A record of a transcript, and where it stands. */
export interface SessionRecord {
  /** Its place in the session that owns it, as events name it. */
  seq: number
  /** When it was written. */
  at: Date
  /** The message. */
  message: Message
  /** The session that owns it, if the record is inherited. */
  inheritedFrom?: string
  /** The model no longer reads it: a summary stands for it. */
  summarised?: true
}

/** Which records to read. */
export interface RecordRange {
  /** How many records of the transcript come before the first one, inherited ones included. Negative: from its end. Default 0. */
  from?: number
  /** The most records, 1 to 1,000. A page ends earlier behind 2 MiB. Default 200. */
  limit?: number
}

/** Some records of a transcript that follow each other. */
export interface RecordPage {
  /** Results of calls that still run are missing. */
  records: SessionRecord[]
  /** How many records come before the first one. */
  from: number
  /** How long the transcript is, inherited records included. */
  total: number
  /** Where the next page begins. Unset: this page reaches the end. */
  next?: number
}

/** Bytes of messages, as JSON, that end a page. The record that passes them still belongs to it. */
const PAGE_BYTES = 2 * 1024 * 1024

/** The session itself first, then the session that each one branched from. */
const PARTS: Statement = statement(
  'records_parts',
  `with recursive ${LINEAGE('$1')} select id as "sessionId", gen, seq from line order by n`,
)
/**
 * `stored` is the size on disk, which costs nothing to know. It keeps the statement from unpacking more than a page when
 * messages are long.
 */
const READ: Statement = statement(
  'records_page',
  `
  select place, seq, message, at from (
    select *, sum(bytes) over (order by place, seq) - bytes as before from (
      select *, octet_length(message::text) as bytes from (
        select p.place, r.seq, r.message, r.at,
          sum(pg_column_size(r.message)) over (order by p.place, r.seq) - pg_column_size(r.message) as stored
        from unnest($1::text[], $2::int[], $3::int[], $4::int[]) with ordinality as p(id, gen, first, last, place),
          lateral (
            select distinct on (r.seq) r.seq, r.message, r.at from stello_line(p.id, p.gen) line, lateral (
              select * from records
              where session_id = p.id and gen = line.gen and seq >= p.first and seq <= least(p.last, line.up_to) offset 0
            ) r order by r.seq, r.gen desc
          ) r
      ) page where stored < ${PAGE_BYTES}
    ) sized
  ) counted where before < ${PAGE_BYTES} order by place, seq`,
)

/** A part of a transcript: the records of one session. */
interface Part extends Branch {
  /** How many records of the transcript come before it. */
  before: number
}

/** @throws StelloError STORE_UNAVAILABLE */
export async function readRecordPage(
  db: Database,
  sessionId: string,
  { from = 0, limit = 200 }: RecordRange = {},
): Promise<RecordPage> {
  const { parts, total } = await readParts(db, sessionId)
  const first = Math.min(from < 0 ? Math.max(0, total + from) : from, total)
  const end = Math.min(first + limit, total)
  const shown = parts.filter(({ before, seq }) => before < end && before + seq > first)
  const rows = await readRows(db, shown, { first, end })
  const summary = await findSummary(db, { ...(parts.at(-1) as Part), seq: LAST_SEQ })
  const records = rows.map(({ place, seq, at, message }): SessionRecord => {
    const { sessionId: owner, before } = shown[place - 1] as Part
    const inherited = owner !== sessionId && { inheritedFrom: owner }
    return { seq, at, message, ...inherited, ...(before + seq <= (summary?.standsFor ?? 0) && { summarised: true }) }
  })
  const last = rows.at(-1)
  // In a page without records, only results of running calls are missing.
  const next = last ? (shown[last.place - 1] as Part).before + last.seq : end
  return { records, from: first, total, ...(next < total && { next }) }
}

/** Oldest part first. */
async function readParts(db: Database, sessionId: string): Promise<{ parts: Part[]; total: number }> {
  const [own, ...above] = await run<Branch>(db.pool, PARTS, [sessionId])
  if (!own) return { parts: [], total: 0 }
  const parts: Part[] = []
  let total = 0
  for (const part of [...above.toReversed(), { ...own, seq: await lastSeq(db, own) }]) {
    parts.push({ ...part, before: total })
    total += part.seq
  }
  return { parts, total }
}

interface RecordRow {
  /** Which part it belongs to, from 1. */
  place: number
  seq: number
  message: Message
  at: Date
}

async function readRows(
  db: Database,
  parts: readonly Part[],
  { first, end }: { first: number; end: number },
): Promise<RecordRow[]> {
  if (first >= end) return []
  const rows = await run<Omit<RecordRow, 'place'> & { place: string }>(db.pool, READ, [
    parts.map(({ sessionId }) => sessionId),
    parts.map(({ gen }) => gen),
    parts.map(({ before }) => first - before + 1),
    parts.map(({ before, seq }) => Math.min(seq, end - before)),
  ])
  return rows.map((row) => ({ ...row, place: Number(row.place) }))
}
