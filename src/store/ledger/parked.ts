/** Steps that are parked until a person answers. The item is in the step's own row, so the two always agree. */
import { storableJson } from '../../core/clean.ts'
import { newEvent } from '../../protocol/events.ts'
import { PENDING, type PendingItem, type Question } from '../../protocol/pending.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import type { StepId } from './claim.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { wholeOutcome } from '../transcript/from-records.ts'
import { ISO } from '../watching/inbox.ts'
import { WROTE, type Wrote } from '../transcript/records.ts'
import { toParameter, writesSql, type Writes } from './writes.ts'

/**
 * The first event gets its data from the row: the question with its time by the store's clock. A call that asks before
 * it does anything counts as not begun, also after a rewind.
 */
const PARK: Statement = statement(
  'step_park',
  `
  with guard as (
    update steps set owner = null, token = null, waiting = true, released = released or $7,
      pending = coalesce(pending, $5::jsonb || jsonb_strip_nulls(jsonb_build_object(
        'at', ${ISO('now()')}, 'expiresAt', ${ISO(`(now() + $8::float8 * interval '1 millisecond')`)})))
    where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null
    returning gen, pending
  ), asked as (
    select jsonb_set($6::jsonb, '{events,0,data}', pending) as writes from guard
  ), ${writesSql({ session: '$1', key: '$2', writes: '(select writes from asked)', records: 'strict' })}
  select pending as item from guard`,
)
/**
 * Makes the step look as if nobody had begun it. Raises the lease, so that nobody with the old lease can end it. If a
 * person decided so, the deaths of its workers no longer count. If its tool said so (`verify`), they still count:
 * otherwise the step might run for ever. What it was begun with before a rewind is of the past now.
 */
const REOPEN: Statement = statement(
  'step_reopen',
  `
  with guard as (
    update steps set lease = lease + 1, owner = null, token = null, released = true, waiting = $7::text[] is not null, awaits = $7,
      pending = null, failures = 0, deaths = case when pending is null then deaths else 0 end, decided = coalesce($6::jsonb, decided) - 'begunWith'
    where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null
    returning gen
  ), ${writesSql({ session: '$1', key: '$2', writes: '$5::jsonb', records: 'strict' })}
  select count(*)::int as done from guard`,
)
const TIME_LEFT: Statement = statement(
  'step_time_left',
  `select ceil(extract(epoch from $1::timestamptz - now()) * 1000)::float8 as ms`,
)
const READ_PARKED: Statement = statement(
  'step_parked',
  `select lease, pending, decided, outcome, ${WROTE} as wrote from steps where session_id = $1 and gen = $2 and step_key = $3`,
)

export interface Parking {
  question: Question
  /** Further events to append. */
  writes?: Pick<Writes, 'events'>
  /** How long the question waits for an answer. Unset: for ever. */
  expiresInMs?: number
}

/**
 * Takes the step from its worker until a person answers, and tells the question. A question that was asked before
 * stays.
 *
 * @returns the question that is open now; undefined when the lease is lost or the step has ended
 */
export async function parkStep(
  db: Database,
  step: StepId,
  { question, writes: telling = {}, expiresInMs }: Parking,
): Promise<PendingItem | undefined> {
  const { sessionId, key, gen, lease } = step
  const { id, kind, turn, round } = question
  const opened = newEvent('pending.opened', { of: [id], at: { turn, round }, data: { ...question, at: '' } })
  const writes = toParameter({ events: [opened, ...(telling.events ?? [])] })
  const values = [sessionId, key, gen, lease, storableJson(question), writes, !PENDING[kind].begun, expiresInMs]
  const [row] = await run<{ item: PendingItem }>(db.pool, PARK, values)
  return row?.item
}

export interface Reopening {
  writes: Writes
  /** Kept with the step until it has ended. Unset: an earlier decision stays. */
  decided?: Decided
  /** Agents that the call waits for. The step is shown as waiting until it is taken again. */
  awaits?: readonly string[]
}

/** Gives the step back as if it had never begun. @returns false when the lease is lost or the step has ended */
export async function reopenStep(db: Database, step: StepId, { writes, decided, awaits }: Reopening): Promise<boolean> {
  const { sessionId, key, gen, lease } = step
  const values = [sessionId, key, gen, lease, toParameter(writes), decided && storableJson(decided), awaits]
  const [row] = await run<{ done: number }>(db.pool, REOPEN, values)
  return row?.done === 1
}

/** The state of a step that may be parked; undefined if it has no row. */
export async function readParked(
  db: Database,
  { sessionId, gen, key }: Omit<StepId, 'lease'>,
): Promise<{ lease: number; item?: PendingItem; decided?: Decided; outcome?: unknown } | undefined> {
  interface Row {
    lease: number
    pending: PendingItem | null
    decided: Decided | null
    outcome: unknown
    wrote: Wrote
  }
  const [row] = await run<Row>(db.pool, READ_PARKED, [sessionId, gen, key])
  if (!row) return undefined
  const { lease, pending, decided, outcome } = row
  return {
    lease,
    ...(pending && { item: pending }),
    ...(decided && { decided }),
    ...(outcome !== null && { outcome: wholeOutcome(outcome, gen, row.wrote) }),
  }
}

/**
 * How long a question still waits, in milliseconds; 0 when its time is over.
 *
 * @param expiresAt as the store has put it on the question, ISO 8601
 */
export async function timeLeft(db: Database, expiresAt: string): Promise<number> {
  const [row] = await run<{ ms: number }>(db.pool, TIME_LEFT, [expiresAt])
  return Math.max(0, row?.ms ?? 0)
}
