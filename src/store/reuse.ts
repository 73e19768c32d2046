/** After Temporal was rewound: what an earlier generation did with the same input is not done again. */
import type pg from 'pg'
import { run, type Statement } from './database.ts'
import type { Ancestor } from './runs.ts'

interface Wanted {
  sessionId: string
  gen: number
  key: string
  turn: number
  inputHash: string
  /** Newest first; the first is `gen` itself. */
  ancestors: Ancestor[]
}

const FIND: Statement = {
  name: 'reuse_find',
  text: `select gen, outcome is not null as settled from steps
         where session_id = $1 and step_key = $2 and input_hash = $3 and gen = any($4) and (outcome is not null or not released)
         order by gen desc limit 1`,
}
/** The step, the records it wrote, and its turn as it stood when the step was settled. */
const COPY: Statement = {
  name: 'reuse_copy',
  text: `
  with old as (
    select * from steps where session_id = $1 and gen = $3 and step_key = $4
  ), copied as (
    insert into steps (session_id, gen, step_key, kind, name, input_hash, lease, first_seq, last_seq, ends_turn, outcome, settled_at)
    select session_id, $2, step_key, kind, name, input_hash, 1, first_seq, last_seq, ends_turn,
      jsonb_set(outcome, '{gen}', to_jsonb($2::int)), settled_at
    from old on conflict do nothing
    returning outcome
  ), copied_records as (
    insert into records (session_id, gen, seq, message, chain, whole)
    select r.session_id, $2, r.seq, r.message, r.chain, r.whole from records r, old
    where r.session_id = $1 and r.gen = $3 and r.seq between old.first_seq and old.last_seq
    on conflict do nothing
  ), copied_turn as (
    insert into turns (session_id, gen, turn, message_id, start_seq, status, stop_reason, text, rounds, ended_at)
    select t.session_id, $2, t.turn, t.message_id, t.start_seq,
      case when old.ends_turn then t.status else 'open' end,
      case when old.ends_turn then t.stop_reason end, case when old.ends_turn then t.text end,
      case when old.ends_turn then t.rounds end, case when old.ends_turn then t.ended_at end
    from turns t, old where t.session_id = $1 and t.gen = $3 and t.turn = $5
    on conflict (session_id, gen, turn) do update set
      status = excluded.status, stop_reason = excluded.stop_reason, text = excluded.text, rounds = excluded.rounds,
      ended_at = excluded.ended_at
  )
  select outcome from copied`,
}

/** `begun`: an earlier generation had begun the step, and its end is unknown. */
export async function reuseStep(
  tx: pg.PoolClient,
  wanted: Wanted,
): Promise<{ outcome: unknown } | 'begun' | undefined> {
  const { sessionId, gen, key, turn, inputHash, ancestors } = wanted
  const older = ancestors.slice(1).map((ancestor) => ancestor.gen)
  if (older.length === 0) return undefined
  const [found] = await run<{ gen: number; settled: boolean }>(tx, FIND, [sessionId, key, inputHash, older])
  if (!found) return undefined
  if (!found.settled) return 'begun'
  const [copied] = await run<{ outcome: unknown }>(tx, COPY, [sessionId, gen, found.gen, key, turn])
  return copied
}
