/**
 * Finds words in transcripts, by PostgreSQL's full text search. It searches the first 65,536 characters of each record's text as
 * models read it: no arguments of calls, and nothing that was cut from a long result. It never writes.
 */
import { clean } from '../../core/clean.ts'
import type { Role } from '../../core/message.ts'
import { preview } from '../../core/message.ts'
import { run, type Database } from '../database/database.ts'
import { LAST_SEQ, LINEAGE } from './records.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A record that holds the words. */
export interface SearchHit {
  /** The session that owns the record. */
  sessionId: string
  /** The session's name for people. */
  label: string
  /** The agent that serves it. */
  agent: string
  /** The root of its tree. */
  rootId: string
  /** The record's place in its session. */
  seq: number
  /** When it was written. */
  at: Date
  /** The role of the speaker. */
  role: Role
  /** A piece of the text around the words, in parts that follow each other. It is plain text, whatever it looks like. */
  snippet: SnippetPart[]
}

/** A part of a snippet. */
export interface SnippetPart {
  /** At most 200 characters. */
  text: string
  /** It is one of the words that were looked for. */
  hit: boolean
}

/** Where to search. */
export interface SearchOptions {
  /** Only in the conversation of this session, its inherited part included. Default: in all sessions. */
  sessionId?: string
  /** The most hits, 1 to 100. Default 20. */
  limit?: number
}

const PART_SHOWN = 200
/**
 * SQL: the part of a record that is searched. PostgreSQL could not index much longer texts, and their record could not be
 * written.
 */
const SAID = (message: string): string => `left(${message}->>'content', 65536)`
/** SQL: the words of a record. The index `records_words` is on exactly this. */
export const WORDS = (message: string): string => `to_tsvector('simple', ${SAID(message)})`
const ASKED = `websearch_to_tsquery('simple', $1)`
/** Marks around a hit. They are taken out of the text first, so no text can forge a hit. */
const [BEGIN, END] = ['\u0001', '\u0002']
const HEADLINE = `StartSel="${BEGIN}", StopSel="${END}", MaxFragments=2, MinWords=8, MaxWords=24, ShortWord=0, FragmentDelimiter=" … "`

/**
 * A question without words, or only with words that must not occur, finds nothing: it would mean every record. A record
 * counts where the place's line of history shows it, so rewound records are not found.
 *
 * @param places a query of `id`, `gen`, `seq`: the sessions that are searched, each up to a record
 */
const search = (places: string): string => `
  with recursive ${places},
  hits as (
    select r.session_id, r.seq, r.at, r.message from places p join records r on r.session_id = p.id and r.seq <= p.seq
    where ${WORDS('r.message')} @@ ${ASKED} and querytree(${ASKED}) not in ('', 'T')
      and (p.gen = 0 and r.gen = 0 or p.gen > 0 and r.gen = (
        select max(line.gen) from stello_line(p.id, p.gen) line, lateral (
          select from records x where x.session_id = p.id and x.gen = line.gen and x.seq = r.seq and x.seq <= line.up_to offset 0
        ) shown))
    order by r.at desc, r.session_id, r.seq desc limit $2
  )
  select h.session_id as "sessionId", s.label, s.agent, s.root_id as "rootId", h.seq, h.at, h.message->>'role' as role,
    ts_headline('simple', translate(${SAID('h.message')}, '${BEGIN}${END}', ''), ${ASKED}, '${HEADLINE}') as marked
  from hits h join sessions s on s.id = h.session_id order by h.at desc, h.session_id, h.seq desc`
const EVERYWHERE: Statement = statement(
  'search',
  search(`places as (select id, gen, ${LAST_SEQ} as seq from sessions)`),
)
const IN_SESSION: Statement = statement(
  'search_session',
  search(`${LINEAGE('$3')}, places as (select id, gen, seq from line)`),
)

/** The newest records that hold the words. */
export async function searchRecords(
  db: Database,
  text: string,
  { sessionId, limit = 20 }: SearchOptions = {},
): Promise<SearchHit[]> {
  const words = clean(text)
  type Row = Omit<SearchHit, 'snippet'> & { marked: string }
  const rows = await (sessionId === undefined
    ? run<Row>(db.pool, EVERYWHERE, [words, limit])
    : run<Row>(db.pool, IN_SESSION, [words, limit, sessionId]))
  return rows.map(({ marked, ...hit }) => ({ ...hit, snippet: toSnippet(marked) }))
}

/** @param marked a text with `BEGIN` and `END` around each hit */
function toSnippet(marked: string): SnippetPart[] {
  const parts = marked.split(BEGIN).flatMap((piece, nth) => {
    const [first = '', ...rest] = piece.split(END)
    return nth === 0
      ? [{ text: piece, hit: false }]
      : [
          { text: first, hit: true },
          { text: rest.join(''), hit: false },
        ]
  })
  return parts.flatMap(({ text, hit }) => (text === '' ? [] : [{ text: preview(text, PART_SHOWN), hit }]))
}
