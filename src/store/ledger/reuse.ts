/** After a rewind of Temporal, a step is not done again if an earlier generation did it with the same input. */
import type pg from 'pg'
import { run } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { wholeEvent, wholeOutcome, type Shown } from '../transcript/from-records.ts'
import { DEAD, GRACE_MS } from './liveness.ts'
import type { NewEvent } from '../../protocol/events.ts'
import { readOpeningKey } from '../../protocol/keys.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import { TEXT } from '../transcript/turns.ts'
import { copySummary } from '../transcript/summaries.ts'
import { copyValues } from '../transcript/values.ts'
import { toParameter, writesSql, type NewRecord, type TurnWrite, type Writes } from './writes.ts'

interface Wanted {
  sessionId: string
  gen: number
  key: string
  inputHash: string
  turn: number
  /**
   * The writes of the step's claim, with the message that opens a turn. The step that is found may lack that
   * message.
   */
  opening: Writes
}

/**
 * Looks in all earlier generations, because the hash of the input covers the whole past. A model call that was cancelled,
 * and a compaction that has failed, has no answer: the model is asked again.
 */
const FIND: Statement = statement(
  'reuse_find',
  `select gen, outcome, first_seq, last_seq, ends_turn, name, decided,
           owner is not null and not ${DEAD} as "inHand"
         from steps
         where session_id = $2 and step_key = $3 and input_hash = $4 and gen < $5
           and (outcome is not null or not released)
           and (kind <> 'model' or coalesce(outcome->>'kind', '') not in ('cancelled', 'failed'))
         order by outcome is null, gen desc limit 1`,
)
const READ: Statement = statement(
  'reuse_read',
  `
  select
    (select jsonb_agg(jsonb_build_object('seq', seq, 'message', message, 'chain', chain, 'whole', whole, 'density', density))
     from records where session_id = $1 and gen = $2 and seq between $3 and $4) as records,
    (select jsonb_agg(jsonb_build_object('key', key, 'type', type, 'data', data, 'turn', turn, 'round', round, 'seq', seq,
       'shown', (select stello_shown(r.message) from records r where r.session_id = $1 and r.gen = $2 and r.seq = events.seq),
       'at', jsonb_build_object('turn', turn, 'round', round, 'told', told)) order by "offset")
     from events where session_id = $1 and gen = $2 and step = $5) as events,
    (select jsonb_build_object('turn', turn, 'stopReason', stop_reason, 'text', ${TEXT('turns')}, 'rounds', rounds)
     from turns where session_id = $1 and gen = $2 and turn = $6 and status = 'ended') as turn`,
)
/** Hides the events of the earlier generation that stayed visible until their step was due again. */
const REPLACE: Statement = statement(
  'reuse_replace',
  `update events set abandoned = true where session_id = $1 and gen < $2 and key = any($3) and not abandoned`,
)
const COPY: Statement = statement(
  'reuse_copy',
  `
  with guard as (
    insert into steps (session_id, gen, step_key, kind, name, input_hash, lease, first_seq, last_seq, ends_turn, outcome, owner, begun_at, settled_at)
    select session_id, $3, step_key, kind, name, input_hash, 1, first_seq, last_seq, ends_turn,
      case when outcome ? 'gen' then jsonb_set(outcome, '{gen}', to_jsonb($3::int)) else outcome end, owner, begun_at, settled_at
    from steps where session_id = $1 and step_key = $2 and gen = $4
    on conflict (session_id, gen, step_key) do update set
      lease = steps.lease + 1, kind = excluded.kind, name = excluded.name, input_hash = excluded.input_hash,
      first_seq = excluded.first_seq, last_seq = excluded.last_seq, ends_turn = excluded.ends_turn,
      outcome = excluded.outcome, owner = excluded.owner, begun_at = excluded.begun_at, settled_at = excluded.settled_at
      where steps.outcome is null
    returning gen, outcome
  ), ${writesSql({ session: '$1', key: '$2', writes: '$5::jsonb', records: 'once' })}
  select outcome from guard`,
)

interface Found {
  gen: number
  outcome: { kind?: string; result?: unknown } | null
  first_seq: number | null
  last_seq: number | null
  ends_turn: boolean
  name: string
  decided: Decided | null
  inHand: boolean
}

/**
 * `begun`: an earlier generation had begun the step, and its end is unknown. `decided`: what of a person's decision
 * says how it was begun. `inHand`: a living worker still runs it and will tell its end.
 */
export type Reused = { outcome: unknown } | { begun: true; decided?: Decided } | 'inHand'

export async function reuseStep(tx: pg.PoolClient, wanted: Wanted): Promise<Reused | undefined> {
  const { sessionId, gen, key, inputHash } = wanted
  if (gen === 0) return undefined
  const [found] = await run<Found>(tx, FIND, [GRACE_MS, sessionId, key, inputHash, gen])
  if (!found) return undefined
  if (found.outcome === null) return found.inHand ? 'inHand' : begunEarlier(found.decided)
  const writes = await readWrites(tx, wanted, found)
  await run(tx, REPLACE, [sessionId, gen, (writes.events ?? []).map((event) => event.key)])
  const [copied] = await run<{ outcome: unknown }>(tx, COPY, [sessionId, key, gen, found.gen, toParameter(writes)])
  if (found.outcome.kind === 'compacted') await copySummary(tx, { sessionId, gen, key })
  if (found.outcome.kind === 'settled')
    await copyValues(tx, { sessionId, from: found.gen, to: gen, seq: found.first_seq })
  const wrote = (writes.records ?? []).filter(({ seq }) => seq >= (found.first_seq ?? Infinity))
  return copied && { outcome: wholeOutcome(copied.outcome, gen, wrote) }
}

function begunEarlier(before: Decided | null): Reused {
  const begunWith = before?.args ?? before?.begunWith
  return { begun: true, ...(begunWith && { decided: { begunWith } }) }
}

/**
 * The writes of the earlier step, to write them once more. Usage is left out, because it was paid once. A child is left
 * out, because it lives.
 */
async function readWrites(tx: pg.PoolClient, { sessionId, key, turn, opening }: Wanted, found: Found): Promise<Writes> {
  interface Row {
    records: NewRecord[] | null
    events: (NewEvent & { turn: number | null; round: number | null; seq: number | null; shown: Shown | null })[] | null
    turn: TurnWrite | null
  }
  const { first_seq, last_seq, ends_turn, outcome, name } = found
  const task = readOpeningKey(key)
  const [row] = await run<Row>(tx, READ, [sessionId, found.gen, first_seq, last_seq, key, turn])
  const told = (row?.events ?? []).map((event): NewEvent => {
    const { key, at, type, shown } = event
    return { key, at, type, data: wholeEvent(event, shown) } as NewEvent
  })
  const { records = [], events = [], turns: [opened] = [] } = opening
  const ended = ends_turn && row?.turn ? row.turn : undefined
  return {
    records: [...records, ...(row?.records ?? [])],
    events: [...events, ...told.filter((event) => !events.some(({ key: known }) => known === event.key))],
    turns: opened || ended ? [{ turn, ...opened, ...ended }] : [],
    ...(task !== undefined && outcome?.kind === 'childOpened' && !outcome.result && { waiting: { key: task, name } }),
  }
}
