/**
 * Turns that models no longer read. A provider has refused the request of such a turn for good, because of a record of the
 * turn, and somebody has cancelled it. The records stay: people read them, forks and hashes count them. Only prompts leave
 * them out.
 */
import type { Branch } from '../../protocol/config.ts'
import { run, type Database } from '../database/database.ts'
import type { StoredRecord } from './records.ts'
import { statement, type Statement } from '../database/statement.ts'

/** The first and the last record of a turn. */
export interface LeftOut {
  from: number
  to: number
}

const READ: Statement = statement(
  'turns_left_out',
  `select t.start_seq as "from", t.left_out as "to" from turns t join stello_line($1, $2) line on line.gen = t.gen
         where t.session_id = $1 and t.left_out is not null and t.left_out <= least(line.up_to, $3)`,
)

/** The turns up to a place that models do not read, of that session only. */
export async function readLeftOut(db: Database, { sessionId, gen, seq }: Branch): Promise<LeftOut[]> {
  return run<LeftOut>(db.pool, READ, [sessionId, gen, seq])
}

/** The records that models read. */
export function withoutLeftOut(records: readonly StoredRecord[], turns: readonly LeftOut[]): readonly StoredRecord[] {
  if (turns.length === 0) return records
  return records.filter(({ seq }) => !turns.some(({ from, to }) => from <= seq && seq <= to))
}
