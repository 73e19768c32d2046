/** Turns as rows. `turn.result()` reads them, from any process and at any time. */
import type { Usage } from '../../core/message.ts'
import { rejectionKey } from '../../protocol/events.ts'
import { SQL, modelKey } from '../../protocol/keys.ts'
import type { StopReason } from '../../protocol/steps.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import type { Generation } from './records.ts'

export interface TurnRow {
  gen: number
  turn: number
  messageId: string
  status: 'open' | 'ended'
  stopReason?: StopReason
  text?: string
  rounds?: number
}

interface Row {
  gen: number
  turn: number
  message_id: string
  status: 'open' | 'ended'
  stop_reason: StopReason | null
  text: string | null
  rounds: number | null
}

/** SQL: the text that a turn ends with. @param turn alias of a row of `turns` */
export const TEXT = (turn: string): string => `coalesce(${turn}.text, (
  select coalesce(r.whole, r.message->>'content') from records r
  where r.session_id = ${turn}.session_id and r.gen = ${turn}.gen and r.seq = ${turn}.end_seq))`

/** A fresh generation abandons no turn that has ended. Those that a close has ended lie behind the last record. */
const BY_MESSAGE: Statement = statement(
  'turn_by_message',
  `select t.gen, turn, message_id, status, stop_reason, ${TEXT('t')} as text, rounds from stello_line($1, $3) line,
           lateral (select * from turns where session_id = $1 and gen = line.gen and message_id = $2 offset 0) t
         where t.start_seq <= line.up_to or (t.status = 'ended' and exists (
           select from stello_line($1, $3) above join generations g on g.session_id = $1 and g.gen = above.gen
           where g.parent_gen = line.gen and g.fresh))
         order by t.gen desc limit 1`,
)
/** If the session was never rewound, the usage of a turn stands under the keys of its rounds. */
const NOW: Statement = statement(
  'turn_now',
  `select s.gen as session_gen, s.closed_at is not null as closed,
           t.gen, t.turn, t.message_id, t.status, t.stop_reason, ${TEXT('t')} as text, t.rounds, paid.input, paid.output,
           case when t.turn is null then (
             select e.data->>'reason' from generate_series(0, s.gen) as known(gen),
               lateral (select * from events where session_id = $1 and gen = known.gen and key = $3 offset 0) e
             where not e.abandoned order by e.gen desc limit 1
           ) end as rejected
         from sessions s
         left join turns t on t.session_id = s.id and t.message_id = $2 and t.gen = s.gen
         left join lateral (
           select coalesce(sum((usage->>'inputTokens')::float8), 0) as input,
             coalesce(sum((usage->>'outputTokens')::float8), 0) as output
           from generate_series(0, t.rounds) as round,
             lateral (select usage from usage where session_id = $1 and gen = 0 and step_key = ${SQL.modelKey('t.turn', 'round')}
                      offset 0) u
         ) paid on t.status = 'ended' and t.gen = 0
         where s.id = $1`,
)
const BY_NUMBER: Statement = statement(
  'turn_by_number',
  `select gen, turn, message_id, status, stop_reason, ${TEXT('turns')} as text, rounds from turns
         where session_id = $1 and turn = $2 and gen <= $3 order by gen desc limit 1`,
)
/** If a later generation reused a step of an earlier one, the usage stands in the generation that paid for it. */
const USAGE: Statement = statement(
  'turn_usage',
  `
  with asked as (
    select distinct on (s.step_key) s.step_key, s.input_hash
    from steps s join stello_line($1, $2) line on s.gen = line.gen and s.last_seq <= line.up_to
    where s.session_id = $1 and s.kind = 'model' and s.step_key = any($3::text[])
    order by s.step_key, s.gen desc
  ), paid as (
    select distinct on (u.step_key) u.usage
    from asked join steps s on s.session_id = $1 and s.step_key = asked.step_key and s.input_hash = asked.input_hash
    join usage u on u.session_id = $1 and u.step_key = s.step_key and u.gen = s.gen
    order by u.step_key, u.gen desc
  )
  select coalesce(sum((usage->>'inputTokens')::float8), 0) as input,
    coalesce(sum((usage->>'outputTokens')::float8), 0) as output
  from paid`,
)
const LAST: Statement = statement(
  'turn_last',
  `select coalesce(max(t.turn), 0)::int as last from stello_line($1, $2) line,
           lateral (select max(turn) as turn from turns where session_id = $1 and gen = line.gen and start_seq <= line.up_to) t`,
)

/**
 * The workflow that was to take the turn up may have been lost too, before it began. So this looks behind all generations
 * that begin at the same place. The message must not have been answered since.
 */
const ABANDONED: Statement = statement(
  'turn_abandoned',
  `
  with recursive left_at as (
    select parent_gen as gen, branch_seq from generations where session_id = $1 and gen = $2
    union all
    select g.parent_gen, g.branch_seq from left_at
    join generations g on g.session_id = $1 and g.gen = left_at.gen and g.fresh and g.branch_seq = left_at.branch_seq
  )
  select t.message_id as "messageId", left_at.gen, t.start_seq as seq
  from left_at
  join stello_line($1, left_at.gen) line on true
  join turns t on t.session_id = $1 and t.gen = line.gen and t.start_seq <= line.up_to and t.status = 'open'
    and t.start_seq = left_at.branch_seq + 1
  where not exists (
    select from turns since
    where since.session_id = $1 and since.message_id = t.message_id and since.gen > t.gen and since.status = 'ended')
  order by t.gen desc, left_at.gen desc limit 1`,
)

/** Whether a session is closed, and the turn that answers a message. */
export interface TurnNow {
  closed: boolean
  turn?: TurnRow
  /** Set if the turn has ended. */
  usage?: Usage
  /** Why the session did not take the message. */
  rejected?: string
}

interface NowRow {
  session_gen: number
  closed: boolean
  input: number | null
  output: number | null
  rejected: string | null
}

/** Uses one statement, unless the session was rewound: code that waits for an answer asks this at each `decision`. */
export async function readTurnNow(db: Database, sessionId: string, messageId: string): Promise<TurnNow | undefined> {
  const values = [sessionId, messageId, rejectionKey(messageId)]
  const [row] = await run<NowRow & (Row | { turn: null })>(db.pool, NOW, values)
  if (!row) return undefined
  const { session_gen: gen, closed, rejected } = row
  const turn = row.turn !== null ? toTurn(row) : gen > 0 ? await readTurn(db, { sessionId, gen }, messageId) : undefined
  const usage =
    row.input !== null
      ? { inputTokens: row.input, outputTokens: row.output ?? 0 }
      : turn?.status === 'ended' && (await readTurnUsage(db, sessionId, turn))
  return {
    closed,
    ...(turn && { turn }),
    ...(usage && { usage }),
    ...(!turn && rejected !== null && { rejected }),
  }
}

/** The turn that answers a message, as the newest generation sees it. */
export async function readTurn(
  db: Database,
  { sessionId, gen }: Generation,
  messageId: string,
): Promise<TurnRow | undefined> {
  const [row] = await run<Row>(db.pool, BY_MESSAGE, [sessionId, messageId, gen])
  return row && toTurn(row)
}

export async function readTurnByNumber(
  db: Database,
  { sessionId, gen }: Generation,
  turn: number,
): Promise<TurnRow | undefined> {
  const [row] = await run<Row>(db.pool, BY_NUMBER, [sessionId, turn, gen])
  return row && toTurn(row)
}

/** The usage of a turn that has ended. */
export async function readTurnUsage(db: Database, sessionId: string, turn: TurnRow): Promise<Usage> {
  const asked = Array.from({ length: (turn.rounds ?? 0) + 1 }, (_, round) => modelKey({ turn: turn.turn, round }))
  const values = [sessionId, turn.gen, asked]
  const [row] = await run<{ input: number; output: number }>(db.pool, USAGE, values)
  return { inputTokens: row?.input ?? 0, outputTokens: row?.output ?? 0 }
}

export async function lastTurn(db: Database, { sessionId, gen }: Generation): Promise<number> {
  const [row] = await run<{ last: number }>(db.pool, LAST, [sessionId, gen])
  return row?.last ?? 0
}

/**
 * The open turn right after the place where generation `gen` branched. It has no answer. Its message is record `seq` of
 * the returned generation.
 */
export async function readAbandonedTurn(
  db: Database,
  { sessionId, gen }: Generation,
): Promise<{ messageId: string; gen: number; seq: number } | undefined> {
  const [row] = await run<{ messageId: string; gen: number; seq: number }>(db.pool, ABANDONED, [sessionId, gen])
  return row
}

function toTurn(row: Row): TurnRow {
  return {
    gen: row.gen,
    turn: row.turn,
    messageId: row.message_id,
    status: row.status,
    ...(row.stop_reason !== null && { stopReason: row.stop_reason }),
    ...(row.text !== null && { text: row.text }),
    ...(row.rounds !== null && { rounds: row.rounds }),
  }
}
