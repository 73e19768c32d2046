/**
 * Summaries: a text that stands for the older records of a transcript in prompts. The records stay. A summary belongs
 * to the session and the generation that own the last record it stands for. So a fork finds the summaries of its inherited
 * part, and a rewind drops the summaries of the rewound records.
 */
import type pg from 'pg'
import type { Branch } from '../../protocol/config.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A summary on its way to the store. */
export interface NewSummary {
  /** The last record that it stands for, as the writer reads it. The store finds the generation that owns it. */
  at: Branch
  text: string
  /** The user's message that is being answered, where it is among what the summary stands for. It stays as it is. */
  question?: string
  /** How many messages it stands for, those that were inherited and summarised before included. */
  standsFor: number
  /** No model has written it: the messages are only left out. */
  cut: boolean
}

/** A summary as the store has it. */
export interface Summary extends NewSummary {
  madeAt: Date
}

/** SQL: the generation that owns record `upTo`, as a reader in generation `gen` sees it. */
const owner = (session: string, gen: string, upTo: string): string => `
    lateral (
      select o.gen from stello_line(${session}, ${gen}) line, lateral (
        select r.gen from records r where r.session_id = ${session} and r.gen = line.gen and r.seq = ${upTo} offset 0
      ) o where ${upTo} <= line.up_to order by o.gen desc limit 1
    ) owner`

/** The summary nearest to the place, in the session's line of history. It stands for records before the place only. */
const READ: Statement = statement(
  'summary_read',
  `select s.gen, s.up_to, s.text, s.question, s.stands_for, s.cut, s.at from stello_line($1, $2) line, lateral (
           select * from summaries where session_id = $1 and gen = line.gen and up_to < $3 and up_to <= line.up_to
           order by up_to desc limit 1
         ) s order by s.up_to desc limit 1`,
)
/** A generation that takes over a step of an earlier one has its own copies of the records that the summary stands for. */
const COPY: Statement = statement(
  'summary_copy',
  `insert into summaries (session_id, gen, up_to, text, question, stands_for, cut, step)
         select s.session_id, owner.gen, s.up_to, s.text, s.question, s.stands_for, s.cut, s.step
         from summaries s, ${owner('$1', '$2::int', 's.up_to')}
         where s.session_id = $1 and s.step = $3 and s.gen < $2
         on conflict do nothing`,
)

/** A CTE that writes the summary if the CTE `guard` has a row. Another summary of the same records stays. */
export function summarySql({ key, writes }: { key: string; writes: string }): string {
  return `w_summary as (
    insert into summaries (session_id, gen, up_to, text, question, stands_for, cut, step)
    select s.at->>'sessionId', owner.gen, (s.at->>'seq')::int, s.text, s.question, s."standsFor", s.cut, ${key}
    from guard, jsonb_to_record(${writes}->'summary') as s(at jsonb, text text, question text, "standsFor" int, cut boolean),
      ${owner(`s.at->>'sessionId'`, `(s.at->>'gen')::int`, `(s.at->>'seq')::int`)}
    on conflict do nothing
  )`
}

/**
 * @param followed whether something stands behind `at`: then the summary may stand for everything up to there
 * @returns the summary that stands for the most records before `at`, of that session's own records only
 */
export async function readSummary(
  db: Database,
  at: Branch,
  { followed = false }: { followed?: boolean } = {},
): Promise<Summary | undefined> {
  interface Row {
    gen: number
    up_to: number
    text: string
    question: string | null
    stands_for: number
    cut: boolean
    at: Date
  }
  const [row] = await run<Row>(db.pool, READ, [at.sessionId, at.gen, at.seq + (followed ? 1 : 0)])
  if (!row) return undefined
  const { gen, up_to: seq, text, question, stands_for: standsFor, cut, at: madeAt } = row
  const place = { sessionId: at.sessionId, gen, seq }
  return { at: place, text, ...(question !== null && { question }), standsFor, cut, madeAt }
}

export async function copySummary(
  tx: pg.PoolClient,
  { sessionId, gen, key }: { sessionId: string; gen: number; key: string },
): Promise<void> {
  await run(tx, COPY, [sessionId, gen, key])
}
