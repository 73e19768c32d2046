/** Ends a step: the second half of the ledger rule (durability 2). The first one to settle decides for everybody. */
import { storableJson } from '../../core/clean.ts'
import { StelloError } from '../../core/errors.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import { toForkRefusal } from '../sessions/bounds.ts'
import type { StepId } from './claim.ts'
import { DIED } from './liveness.ts'
import { isNullViolation, isUniqueViolation, run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { keepOutcome, wholeOutcome } from '../transcript/from-records.ts'
import { WROTE, type Wrote } from '../transcript/records.ts'
import { mustBeCurrent } from './runs.ts'
import { summarySql } from '../transcript/summaries.ts'
import { TELL_TAKEN_OVER } from './taken-over.ts'
import { valuesSql } from '../transcript/values.ts'
import { type RunRef } from './abandon-future.ts'
import { toParameter, writesSql, type Writes } from './writes.ts'

/** If `outcome` is undefined, the lease is lost and nobody has settled the step yet. */
export type Settled = { won: true } | { won: false; outcome: unknown }

/** How a step ends: its outcome, and everything that follows from it. */
export interface Settling<Outcome = unknown> {
  outcome: Outcome
  writes: Writes
}

/** The owner stays: it says which worker has settled the step. */
const SETTLING = `
  with guard as (
    update steps set outcome = $5::jsonb, settled_at = now(), token = null, waiting = false,
      first_seq = ($6::jsonb#>>'{records,0,seq}')::int, last_seq = ($6::jsonb#>>'{records,-1,seq}')::int,
      ends_turn = $6::jsonb ? 'turns'
    where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null
    returning gen
  ), ${writesSql({ session: '$1', key: '$2', writes: '$6::jsonb', records: 'strict' })}`
const WON = 'select count(*)::int as won from guard'
const SETTLE: Statement = statement('settle', `${SETTLING} ${WON}`)
/** A statement of its own, because few steps write a summary, and the others shall not pay for it. */
const SETTLE_SUMMARY: Statement = statement(
  'settle_summary',
  `${SETTLING}, ${summarySql({ key: '$2', writes: '$6::jsonb' })} ${WON}`,
)
/** A statement of its own, because few calls set values. */
const SETTLE_VALUES: Statement = statement(
  'settle_values',
  `${SETTLING}, ${valuesSql({ session: '$1', writes: '$6::jsonb' })} ${WON}`,
)
const READ_OUTCOME: Statement = statement(
  'outcome_read',
  `select outcome, ${WROTE} as wrote from steps where session_id = $1 and gen = $2 and step_key = $3`,
)
const READ_HOLDER: Statement = statement(
  'holder_read',
  `select owner from steps where session_id = $1 and gen = $2 and step_key = $3 and outcome is null`,
)
/**
 * A worker that survives the work and reports a failure, or that a person must look, proves that the step does not
 * kill. So earlier deaths no longer count. A worker that only hands the step over proves nothing.
 */
const giveBack = (also = ''): string => `
    update steps set owner = null, token = null, released = released or not $7,
      failures = case when $6 then 0 when $5 and owner is not null then failures + 1 else failures end,
      deaths = case when $5 or $6 then 0 when $8 then deaths + ${DIED} else deaths end,
      failing_since = case when $6 then null when $9::jsonb is not null then coalesce(failing_since, now()) else failing_since end,
      weather = case when $6 then null else coalesce($9::jsonb, weather) end,
      next_try = case when $6 then null when $9::jsonb is not null then now() + make_interval(secs => $10) else next_try end
    where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null ${also}
    returning gen, failures`
const RELEASE: Statement = statement('release', giveBack())
const RELEASE_TELLING: Statement = statement(
  'release_telling',
  `
  with guard as (${giveBack()}
  ), ${writesSql({ session: '$1', key: '$2', writes: '$11::jsonb', records: 'strict' })}
  select failures from guard`,
)
/** Gives back a step whose worker has died, and tells of the attempt. The attempt is read before the update overwrites it. */
const RELEASE_DEAD: Statement = statement(
  'release_dead',
  `
  with dead as (
    select session_id, gen, step_key, kind, name, lease, owner, begun_at from steps
    where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null and owner is not null
    for update
  ), guard as (${giveBack('and (select count(*) from dead) >= 0')}
  ), taken as (select dead.* from dead, guard), ${TELL_TAKEN_OVER}
  select failures from guard`,
)
const FORCE: Statement = statement(
  'force',
  `insert into steps (session_id, gen, step_key, kind, name, input_hash, lease, released, owner, token)
         values ($1, $2, $3, $4, $5, '', 1, true, $6, $7)
         on conflict (session_id, gen, step_key) do update set lease = steps.lease + 1, owner = $6, token = $7
           where steps.outcome is null
         returning lease, released, waiting, deaths, pending, decided, (extract(epoch from now() - begun_at) * 1000)::float8 as age`,
)

/**
 * Commits an outcome and everything that follows from it, in one statement, or nothing at all.
 *
 * @throws StelloError STORE_UNAVAILABLE, STORE_CORRUPT; for a child: SESSION_EXISTS (another session has its id),
 * TREE_LIMIT, SESSION_CLOSED (its parent is being closed); the driver's error when the content is refused
 * (`isDataError`)
 */
export async function settleStep(db: Database, step: StepId, { outcome, writes }: Settling): Promise<Settled> {
  const { sessionId, key, gen, lease } = step
  try {
    const values = [
      sessionId,
      key,
      gen,
      lease,
      storableJson(keepOutcome(outcome, gen, writes.records ?? [])),
      toParameter(writes),
    ]
    const [row] = await run<{ won: number }>(db.pool, settling(writes), values)
    if (row?.won === 1) return { won: true }
  } catch (error) {
    const refusal = toForkRefusal(error)
    if (refusal) throw refusal
    if (writes.child && isNullViolation(error)) {
      const { sessionId: child } = writes.child
      throw new StelloError('SESSION_EXISTS', `session ${child} exists already: somebody else asked for it`, {
        cause: error,
      })
    }
    if (!isUniqueViolation(error)) throw error
    throw new StelloError('STORE_CORRUPT', `session ${sessionId}: step ${key} meets a record of another step`, {
      cause: error,
    })
  }
  return { won: false, outcome: await readOutcome(db, step) }
}

function settling({ summary, values }: Writes): Statement {
  if (summary) return SETTLE_SUMMARY
  return values ? SETTLE_VALUES : SETTLE
}

/** The outcome of a settled step; undefined if it is not settled. */
export async function readOutcome(db: Database, step: Omit<StepId, 'lease'>): Promise<unknown> {
  const { sessionId, gen, key } = step
  const [row] = await run<{ outcome: unknown; wrote: Wrote }>(db.pool, READ_OUTCOME, [sessionId, gen, key])
  return row && (wholeOutcome(row.outcome, gen, row.wrote) ?? undefined)
}

/** Boot id of the worker that holds the step; undefined if nobody holds it or it has ended. */
export async function readHolder(db: Database, ref: RunRef, key: string): Promise<string | undefined> {
  const gen = await mustBeCurrent(db, ref)
  const [row] = await run<{ owner: string | null }>(db.pool, READ_HOLDER, [ref.sessionId, gen, key])
  return row?.owner ?? undefined
}

export interface GivingBack {
  /** Counts as a failed attempt at the model or the tool. */
  failed: boolean
  /** Forgets the failed attempts, because the session pauses and a resume counts anew. */
  reset?: boolean
  /** If the step was begun, it stays begun: the next worker finds its end unknown. */
  begun?: boolean
  /** Another worker found its worker dead and gives the step back in its place. */
  died?: boolean
  /** The weather holds it up: it is asked again when that is over. */
  weather?: Weather
  /** The writes that are committed with it. */
  writes?: Writes
}

/** The provider that a model call waits for. */
export interface Weather {
  /** Who is away. */
  provider: string
  /** In a few words. */
  why: string
  /** Milliseconds until it is tried again. */
  nextTryMs: number
  /** People were told. */
  told: boolean
}

/**
 * Gives a step back unsettled. If the answer is lost and the caller asks again, nothing counts twice, because nobody
 * holds the step then.
 *
 * @returns failed attempts so far
 */
export async function releaseStep(db: Database, step: StepId, giving: GivingBack): Promise<number> {
  const { failed, reset = false, begun = false, died = false, weather, writes } = giving
  const { nextTryMs = 0, ...held } = weather ?? {}
  const kept = weather ? storableJson(held) : null
  const values = [step.sessionId, step.key, step.gen, step.lease, failed, reset, begun, died, kept, nextTryMs / 1000]
  const [row] = writes
    ? await run<{ failures: number }>(db.pool, RELEASE_TELLING, [...values, toParameter(writes)])
    : await run<{ failures: number }>(db.pool, died ? RELEASE_DEAD : RELEASE, values)
  return row?.failures ?? 0
}

export interface Proposing {
  run: RunRef
  key: string
  kind: string
  name: string
  /**
   * The worker that may run user code to find out how the step ended. It holds the step, because that code may kill it.
   * Unset: nobody holds it.
   */
  holder?: { owner: string; token: Uint8Array }
}

/** A step that only the holder of this lease can end. */
export interface Forced extends StepId {
  /** A worker had begun it, and its end is unknown. */
  begun: boolean
  /** How many of its workers died while they held it. */
  deaths: number
  /** Time since it began, or began to wait, in milliseconds. */
  ageMs: number
  /** The question that a person was asked about it. */
  parked?: PendingItem
  /** What people have decided about it. */
  decided?: Decided
}

interface ForcedRow {
  lease: number
  released: boolean
  waiting: boolean
  deaths: number
  pending: PendingItem | null
  decided: Decided | null
  age: number
}

/** Takes the step away from any worker that may run it. @returns `outcome` if the step has ended already */
export async function forceStep(
  db: Database,
  { run: ref, key, kind, name, holder }: Proposing,
): Promise<{ gen: number; outcome: unknown } | Forced> {
  const gen = await mustBeCurrent(db, ref)
  const { sessionId } = ref
  const [row] = await run<ForcedRow>(db.pool, FORCE, [sessionId, gen, key, kind, name, holder?.owner, holder?.token])
  if (!row) return { gen, outcome: await readOutcome(db, { sessionId, gen, key }) }
  const { lease, released, waiting, deaths, pending, decided, age } = row
  const forced = { sessionId, gen, key, lease, deaths, begun: !released && !waiting, ageMs: Math.round(age) }
  return { ...forced, ...(pending && { parked: pending }), ...(decided && { decided }) }
}

/**
 * Settles a step from outside, because its activity ended without an outcome or because it waits for no worker. An
 * outcome that exists already wins.
 */
export async function proposeOutcome<Outcome>(
  db: Database,
  proposing: Proposing,
  propose: (gen: number) => Settling<Outcome>,
): Promise<Outcome> {
  for (;;) {
    const forced = await forceStep(db, proposing)
    if ('outcome' in forced) return forced.outcome as Outcome
    const proposed = propose(forced.gen)
    const settled = await settleStep(db, forced, proposed)
    if (settled.won) return proposed.outcome
    if (settled.outcome !== undefined) return settled.outcome as Outcome
  }
}
