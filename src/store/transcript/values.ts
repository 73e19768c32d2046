/**
 * The values that tools keep with their session. A value belongs to the record of the call that has set it, so it is
 * seen where that record is seen: a rewind leaves it behind. A fork begins without values.
 */
import type pg from 'pg'
import type { Branch } from '../../protocol/config.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A value that a call has set; null: the call has removed it. */
export interface NewValue {
  name: string
  value: unknown
}

/** The last value at the place, in the session's line of history. */
const READ: Statement = statement(
  'value_read',
  `select v.value from stello_line($1, $2) line, lateral (
           select gen, seq, value from session_values
           where session_id = $1 and gen = line.gen and name = $4 and seq <= least($3, line.up_to)
           order by seq desc limit 1
         ) v order by v.seq desc, v.gen desc limit 1`,
)
/** A generation that takes over the call of an earlier one has its own copy of the record, so of its values too. */
const COPY: Statement = statement(
  'values_copy',
  `insert into session_values (session_id, gen, name, seq, value)
         select session_id, $3, name, seq, value from session_values where session_id = $1 and gen = $2 and seq = $4
         on conflict do nothing`,
)

/** A CTE that writes the values if the CTE `guard` has a row. */
export function valuesSql({ session, writes }: { session: string; writes: string }): string {
  return `w_values as (
    insert into session_values (session_id, gen, name, seq, value)
    select ${session}, guard.gen, v.entry->>'name', (${writes}#>>'{records,0,seq}')::int, v.entry->'value'
    from guard, jsonb_array_elements(${writes}->'values') as v(entry)
  )`
}

/** @returns the value as the record `at` sees it, that record included; undefined when there is none */
export async function readValue(db: Database, at: Branch, name: string): Promise<unknown> {
  const [row] = await run<{ value: unknown }>(db.pool, READ, [at.sessionId, at.gen, at.seq, name])
  return row?.value ?? undefined
}

/** @param place.from the generation that has run the call of record `seq` */
export async function copyValues(
  tx: pg.PoolClient,
  { sessionId, from, to, seq }: { sessionId: string; from: number; to: number; seq: number | null },
): Promise<void> {
  await run(tx, COPY, [sessionId, from, to, seq])
}
