/**
 * Abandons a future. Everything after the place where a new generation branches is kept, but it is not shown and blocks
 * nothing. After a reset, the branch is at the place of the rewound run. A workflow that was started anew goes on at
 * the end of what the store holds.
 */
import type pg from 'pg'
import { newEvent } from '../../protocol/events.ts'
import { run } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { toParameter, writesSql } from './writes.ts'
import type { Place } from '../../protocol/steps.ts'

/** The facts that an activity knows about its run. */
export interface RunRef {
  sessionId: string
  runId: string
  /** Temporal's namespace, in which the session lives. */
  namespace: string
  /** Asks Temporal whether this run is the newest. Only Temporal knows the order of runs. */
  isNewest(): Promise<boolean>
  /** The run that this one continued as new from. */
  prevRunId?: string
  /** The workflow was started anew (not rewound, not continued) and knows nothing about the session yet. */
  fresh?: true
  /** The last generation that the workflow knows. */
  gen: number
  /** The turn under way, or else the last turn. */
  turn: number
  /** Where a new generation would branch. */
  place: Place
}

interface Parting {
  /** Last record that stays. */
  seq: number
  /** The last turn that stays, and its last round whose steps are not done again. */
  turn: number
  round: number
  told: number
  /** The turn is under way. If it has an end, that belongs to the abandoned future. */
  open: boolean
}

const ALL = 2 ** 31 - 1

/**
 * Finds the end of a session's newest line of history. A turn without an answer begins once more, and reuses the steps
 * that it has done.
 */
const END: Statement = statement(
  'abandon_end',
  `
  with line as (select * from stello_line($1, $2)),
  seen as (
    select distinct on (turn) t.turn, t.status, t.start_seq from turns t join line on t.gen = line.gen and t.start_seq <= line.up_to
    where t.session_id = $1 order by turn, t.gen desc
  )
  select
    (select coalesce(max(r.seq), 0) from records r join line on r.gen = line.gen and r.seq <= line.up_to where r.session_id = $1)::int as last,
    (select coalesce(max(turn), 0) from seen)::int as turn,
    (select min(turn) from seen where status = 'open')::int as open_turn,
    (select min(start_seq) from seen where status = 'open')::int as open_seq`,
)
/** The records that a session was created with come before its first turn. No rewind takes them away. */
const FIRST: Statement = statement(
  'abandon_first',
  `select coalesce(
           (select min(start_seq) - 1 from turns where session_id = $1),
           (select max(seq) from records where session_id = $1 and gen = 0), 0)::int as seq`,
)
const BRANCH: Statement = statement(
  'abandon_branch',
  `with live as (delete from live where session_id = $1)
         insert into generations (session_id, gen, parent_gen, branch_seq, fresh) values ($1, $2, $3, $4, $5)`,
)
/** The turn under way goes on in the new generation. */
const CARRY_TURN: Statement = statement(
  'abandon_carry_turn',
  `insert into turns (session_id, gen, turn, message_id, status, start_seq)
         select session_id, $2, turn, message_id, 'open', start_seq from turns
         where session_id = $1 and gen = $3 and turn = $4 and start_seq <= $5`,
)
/**
 * Each event says where it belongs (`EventPlace`). A workflow that was started anew counts its announcements from 0, so
 * announcements of earlier workflows are not compared. Calls that still wait for a person ask anew, so their questions
 * are abandoned too.
 */
const ABANDON: Statement = statement(
  'abandon_abandon',
  `
  with line as (select gen from stello_line($1, $2)),
  begun as (
    select coalesce(max(g.gen), 0) as gen from generations g join line on line.gen = g.gen
    where g.session_id = $1 and g.gen < $2 and g.fresh
  )
  update events set abandoned = true from begun
  where session_id = $1 and events.gen < $2 and not abandoned and coalesce(turn, told) is not null and (
    events.gen not in (select gen from line)
    or (told > $3 and events.gen >= begun.gen)
    or (turn, coalesce(round, ${ALL})) > ($4, $5)
    or type = 'pending.opened' and exists (
      select from steps s where s.session_id = $1 and s.gen < $2 and s.outcome is null and s.pending->>'id' = data->>'id'))`,
)
const TELL: Statement = statement(
  'abandon_tell',
  `
  with reopened as (select id from sessions where id = $1),
  guard as (select $2::int as gen from reopened), ${writesSql({ session: '$1', key: 'null', writes: '$3::jsonb', records: 'once' })}
  select from guard`,
)
const REOPEN: Statement = statement(
  'abandon_reopen',
  `update sessions set closed_at = null, closing_at = null where id = $1`,
)
/** A session that was stuck can go on after a new start. A pause for any other reason stays. */
const UNSTICK: Statement = statement(
  'abandon_unstick',
  `update sessions set pause = null where id = $1 and pause->>'reason' in ('store_error', 'agent_error')`,
)

export async function abandonFuture(
  tx: pg.PoolClient,
  ref: RunRef,
  { gen, parent }: { gen: number; parent: number },
): Promise<void> {
  const { sessionId, place, fresh } = ref
  const { seq, turn, round, told, open } = fresh ? await endOf(tx, sessionId, parent) : await partingAt(tx, ref)
  await run(tx, BRANCH, [sessionId, gen, parent, seq, fresh === true])
  if (open && !fresh) await run(tx, CARRY_TURN, [sessionId, gen, parent, turn, seq])
  await run(tx, ABANDON, [sessionId, gen, told, turn, round])
  await run(tx, fresh ? UNSTICK : REOPEN, [sessionId])
  const what = { of: [gen], at: { told: fresh ? 0 : told }, data: { generation: gen, seq, turn } }
  const events = [fresh ? newEvent('session.restarted', what) : newEvent('session.rewound', what)]
  // A pause that belongs to the abandoned future ends here, like a close.
  const writes = { events, ...(!fresh && !place.paused && { pause: null }) }
  await run(tx, TELL, [sessionId, gen, toParameter(writes)])
}

async function partingAt(tx: pg.PoolClient, { sessionId, turn, place }: RunRef): Promise<Parting> {
  const { seq, told, round, asking } = place
  const [first] = seq === 0 ? await run<{ seq: number }>(tx, FIRST, [sessionId]) : []
  return {
    seq: first?.seq ?? seq,
    turn,
    told,
    open: round !== undefined,
    round: round === undefined ? ALL : asking ? round - 1 : round,
  }
}

async function endOf(tx: pg.PoolClient, sessionId: string, gen: number): Promise<Parting> {
  interface Row {
    last: number
    turn: number
    open_turn: number | null
    open_seq: number | null
  }
  const [row] = await run<Row>(tx, END, [sessionId, gen])
  const { last = 0, turn = 0, open_turn, open_seq } = row ?? {}
  const told = ALL
  if (open_turn == null || open_seq == null) return { seq: last, turn, round: ALL, told, open: false }
  return { seq: open_seq - 1, turn: open_turn - 1, round: ALL, told, open: false }
}
