/**
 * The statements of a claim. The usual case is one statement; the others are for what came before: other attempts, earlier
 * generations.
 */
import type { PendingItem } from '../../protocol/pending.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import { statement, type Statement } from '../database/statement.ts'
import { WROTE } from '../transcript/records.ts'
import { writesSql } from './writes.ts'

/** A step as its row says. */
export interface StepRow {
  input_hash: string
  lease: number
  owner: string | null
  token: Buffer | null
  failures: number
  deaths: number
  released: boolean
  pending: PendingItem | null
  decided: Decided | null
  outcome: unknown
}

/** How the weather has held a step up until now. */
export interface HeldUpSoFar {
  /** Milliseconds since the first failure, by the store's clock. */
  forMs: number
  /** The provider that failed last. */
  provider: string
  /** People were told. */
  told: boolean
}

/** A step that was taken. */
export interface TakenRow {
  lease: number
  failures: number
  deaths: number
  weather?: HeldUpSoFar | null
}

const COLUMNS = 'session_id, gen, step_key, kind, name, input_hash, lease, owner, token, released'

/**
 * The usual case, in one statement: first attempt, current run, first generation. The lock keeps another run from
 * taking over meanwhile.
 */
const FAST = `
  with ok as (
    select gen from sessions
    where id = $1 and run_id = $3 and gen = 0 and pause is null and closed_at is null and closing_at is null
    for key share
  ), guard as (
    insert into steps (${COLUMNS}) select $1, gen, $2, $4, $5, $6, 1, $7, $8, $9 from ok on conflict do nothing returning gen
  )`
export const FAST_CLAIM: Statement = statement('claim', `${FAST} select count(*)::int as taken from guard`)
export const FAST_OPENING: Statement = statement(
  'claim_opening',
  `
  with ok as (
    select gen from sessions
    where id = $1 and run_id = $3 and gen = 0 and pause is null and closed_at is null and closing_at is null
      and not exists (select from turns where session_id = $1 and gen = 0 and message_id = $10 and turn <> $11)
      and not exists (select from events where session_id = $1 and gen = 0 and key = $12)
    for key share
  ), guard as (
    insert into steps (${COLUMNS}) select $1, gen, $2, $4, $5, $6, 1, $7, $8, false from ok on conflict do nothing returning gen
  ), ${writesSql({ session: '$1', key: '$2', writes: '$9::jsonb', records: 'once' })}
  select count(*)::int as taken from guard`,
)
export const SLOW_INSERT: Statement = statement(
  'claim_slow',
  `
  with guard as (
    insert into steps (${COLUMNS}, decided) values ($1, $9, $2, $3, $4, $5, 1, $6, $7, $10, $11) on conflict do nothing returning gen
  ), ${writesSql({ session: '$1', key: '$2', writes: '$8::jsonb', records: 'once' })}
  select count(*)::int as taken from guard`,
)
export const READ_STEP: Statement = statement(
  'step_read',
  `select input_hash, lease, owner, token, failures, deaths, released, pending, decided, outcome from steps
         where session_id = $1 and gen = $2 and step_key = $3 for update`,
)
/**
 * The records of a settled step, for `wholeOutcome`. A statement of its own: one that had to wait for the settle sees
 * the step's new row, but not the records that were written with it.
 */
export const READ_WROTE: Statement = statement(
  'step_wrote',
  `select ${WROTE} as wrote from steps where session_id = $1 and gen = $2 and step_key = $3`,
)
export const RETAKE: Statement = statement(
  'step_retake',
  `update steps set lease = lease + 1, owner = $5, token = $6, begun_at = now(), waiting = false, awaits = null,
           input_hash = $7, released = released and $8
         where session_id = $1 and gen = $2 and step_key = $3 and lease = $4 and outcome is null
         returning lease, failures, deaths, case when failing_since is not null then jsonb_build_object(
           'forMs', extract(epoch from now() - failing_since) * 1000, 'provider', weather->'provider', 'told', weather->'told')
           end as weather`,
)
/**
 * The first claim of a step whose row exists already, because it waits or was ended from outside. The claim also writes
 * the step's opening.
 */
export const FIRST_TAKE: Statement = statement(
  'step_first_take',
  `
  with guard as (
    update steps set lease = lease + 1, kind = $5, name = $6, input_hash = $7, owner = $8, token = $9, released = $11,
      decided = $12, begun_at = now()
    where session_id = $1 and gen = $2 and step_key = $3 and lease = $4 and outcome is null
    returning gen, lease, failures, deaths
  ), ${writesSql({ session: '$1', key: '$3', writes: '$10::jsonb', records: 'once' })}
  select lease, failures, deaths from guard`,
)
export const DUPLICATE: Statement = statement(
  'turn_duplicate',
  `select t.turn from stello_line($1, $2) line,
           lateral (select * from turns where session_id = $1 and gen = line.gen and message_id = $3 offset 0) t
         where t.start_seq <= line.up_to and t.turn <> $4
         union all
         select null from stello_line($1, $2) line,
           lateral (select * from events where session_id = $1 and gen = line.gen and key = $5 offset 0) e
         where not e.abandoned`,
)
export const SESSION_STATE: Statement = statement(
  'session_state',
  `select pause is not null as paused, closed_at is not null or closing_at is not null as closed, run_id is distinct from $2 as stale
         from sessions where id = $1 for key share`,
)
