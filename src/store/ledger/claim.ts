/** Takes a step: the first half of the ledger rule (durability 2). At most one attempt gets `mine`. */
import type pg from 'pg'
import { storableJson } from '../../core/clean.ts'
import { StelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { newEvent, rejectionKey, type NewEvent } from '../../protocol/events.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import { run, transaction, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { resolveRun } from './runs.ts'
import { type RunRef } from './abandon-future.ts'
import { wholeOutcome } from '../transcript/from-records.ts'
import { WROTE, type Wrote } from '../transcript/records.ts'
import { reuseStep } from './reuse.ts'
import { toParameter, writesSql, type NewRecord, type Writes } from './writes.ts'
import { SHOWN } from '../../protocol/limits.ts'

/**
 * A step whose workers died this often is not run again, because perhaps it kills them. The last worker that may take
 * it runs it alone. So an innocent step, which only died together with a guilty one, gets through.
 */
export const TAKERS = 3

export interface StepId {
  sessionId: string
  gen: number
  key: string
  /** The ledger's own counter, never Temporal's attempt. */
  lease: number
}

export interface ClaimRequest {
  run: RunRef
  key: string
  kind: 'model' | 'tool' | 'child' | 'hook'
  name: string
  inputHash: string
  /** Boot id of the worker. */
  owner: string
  /** Temporal's task token. A worker that takes the step over uses it to fail this attempt. */
  token: Uint8Array
  /** An earlier claim of this same attempt got no answer. If it was granted, nothing has begun with it. */
  unheard?: boolean
  /** The worker runs no other step that may be taken only once more. */
  alone?: boolean
  /**
   * Wait until the claim is safe on disk. Otherwise a crash of the server may lose it, which is fine for steps that may
   * be repeated.
   */
  durable: boolean
  /** The step is taken only to be prepared. It counts as begun after `beginStep`. */
  preparing?: boolean
  /** The user message that opens a turn. */
  opening?: Opened
}

/** A turn and the user message that opens it. */
export interface Opened {
  turn: number
  messageId: string
  record: NewRecord
}

export type Claim =
  /**
   * `begun`: an earlier attempt had begun it, and its end is unknown.
   * `deaths`: how many of its workers died while they held it. From `TAKERS` on, it must not run.
   */
  | {
      kind: 'mine'
      gen: number
      lease: number
      failures: number
      deaths: number
      begun: boolean
      weather?: HeldUpSoFar
      /** The decision of a person about it. */
      decided?: Decided
    }
  /** A person was asked about it. Nobody holds it until the answer, whatever kind of step it is. */
  | { kind: 'parked'; gen: number; item: PendingItem }
  | { kind: 'settled'; gen: number; outcome: unknown }
  | { kind: 'busy'; gen: number; lease: number; owner: string }
  /** An attempt of this same worker holds it. */
  | { kind: 'mineAlready'; gen: number; lease: number }
  /** A living worker still runs it for a run that was rewound. That outcome can be used. */
  | { kind: 'elsewhere' }
  /** The step may be taken only once more. Nothing was taken; ask again with `alone`. */
  | { kind: 'lastChance' }
  /** The message was answered before, in that turn. Without a turn: it was refused. */
  | { kind: 'duplicate'; turn?: number }
  | { kind: 'paused' }
  /** The session is closed or must close. */
  | { kind: 'closed' }
  | { kind: 'stale' }

/** How the weather has held a step up until now. */
export interface HeldUpSoFar {
  /** Milliseconds since the first failure, by the store's clock. */
  forMs: number
  /** The provider that failed last. */
  provider: string
  /** People were told. */
  told: boolean
}

/** The attempt holds the step and runs it. */
export type Mine = Extract<Claim, { kind: 'mine' }>

/**
 * The input hash of a step that nobody has claimed: it only waits, or was ended from outside. Its opening is not
 * written yet.
 */
const NEVER_CLAIMED = ''

interface StepRow {
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

interface TakenRow {
  lease: number
  failures: number
  deaths: number
  weather?: HeldUpSoFar | null
}

/** The counters of a step that is taken for the first time. */
const FIRST = { lease: 1, failures: 0, deaths: 0 } as const

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
const FAST_CLAIM: Statement = statement('claim', `${FAST} select count(*)::int as taken from guard`)
const FAST_OPENING: Statement = statement(
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
const SLOW_INSERT: Statement = statement(
  'claim_slow',
  `
  with guard as (
    insert into steps (${COLUMNS}, decided) values ($1, $9, $2, $3, $4, $5, 1, $6, $7, $10, $11) on conflict do nothing returning gen
  ), ${writesSql({ session: '$1', key: '$2', writes: '$8::jsonb', records: 'once' })}
  select count(*)::int as taken from guard`,
)
const READ_STEP: Statement = statement(
  'step_read',
  `select input_hash, lease, owner, token, failures, deaths, released, pending, decided, outcome from steps
         where session_id = $1 and gen = $2 and step_key = $3 for update`,
)
/**
 * The records of a settled step, for `wholeOutcome`. A statement of its own: one that had to wait for the settle sees
 * the step's new row, but not the records that were written with it.
 */
const READ_WROTE: Statement = statement(
  'step_wrote',
  `select ${WROTE} as wrote from steps where session_id = $1 and gen = $2 and step_key = $3`,
)
const RETAKE: Statement = statement(
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
const FIRST_TAKE: Statement = statement(
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
const DUPLICATE: Statement = statement(
  'turn_duplicate',
  `select t.turn from stello_line($1, $2) line,
           lateral (select * from turns where session_id = $1 and gen = line.gen and message_id = $3 offset 0) t
         where t.start_seq <= line.up_to and t.turn <> $4
         union all
         select null from stello_line($1, $2) line,
           lateral (select * from events where session_id = $1 and gen = line.gen and key = $5 offset 0) e
         where not e.abandoned`,
)
const SESSION_STATE: Statement = statement(
  'session_state',
  `select pause is not null as paused, closed_at is not null or closing_at is not null as closed, run_id is distinct from $2 as stale
         from sessions where id = $1 for key share`,
)

/**
 * Claims a step for one attempt.
 *
 * @throws StelloError STORE_CORRUPT when the same step was begun with another input; STORE_UNAVAILABLE
 */
export async function claimStep(db: Database, request: ClaimRequest): Promise<Claim> {
  const { run: ref, key, kind, name, inputHash, owner, token, opening } = request
  const pool = request.durable ? db.pool : db.lazyPool
  const values = [ref.sessionId, key, ref.runId, kind, name, inputHash, owner, token]
  const [fast] = opening
    ? await run<{ taken: number }>(pool, FAST_OPENING, [
        ...values,
        toParameter(openingWrites(request)),
        opening.messageId,
        opening.turn,
        rejectionKey(opening.messageId),
      ])
    : await run<{ taken: number }>(pool, FAST_CLAIM, [...values, request.preparing ?? false])
  if (fast?.taken === 1) return { kind: 'mine', gen: 0, ...FIRST, begun: false }
  const resolved = await resolveRun(db, ref)
  if (resolved.kind !== 'current') return { kind: resolved.kind }
  return transaction(db, (tx) => claimSlowly(tx, request, resolved.gen))
}

async function claimSlowly(tx: pg.PoolClient, request: ClaimRequest, gen: number): Promise<Claim> {
  const { run: ref, key, owner, token, inputHash, preparing = false } = request
  const [existing] = await run<StepRow>(tx, READ_STEP, [ref.sessionId, gen, key])
  if (existing) {
    const known = fromRow(existing, request, gen)
    if (known?.kind === 'settled') {
      const [row] = await run<{ wrote: Wrote }>(tx, READ_WROTE, [ref.sessionId, gen, key])
      return { ...known, outcome: wholeOutcome(known.outcome, gen, row?.wrote ?? null) }
    }
    if (known) return known
  }
  const [state] = await run<{ paused: boolean; closed: boolean; stale: boolean }>(tx, SESSION_STATE, [
    ref.sessionId,
    ref.runId,
  ])
  if (state?.stale) return { kind: 'stale' }
  if (state?.closed) return { kind: 'closed' }
  if (state?.paused) return { kind: 'paused' }
  if (existing?.deaths === TAKERS - 1 && !request.alone) return { kind: 'lastChance' }
  if (existing && existing.input_hash !== NEVER_CLAIMED) {
    const values = [ref.sessionId, gen, key, existing.lease, owner, token, inputHash, preparing]
    const [row] = await run<TakenRow>(tx, RETAKE, values)
    const { released, decided } = existing
    return taken(row, key, { gen, begun: !released, ...(decided && { decided }) })
  }
  const duplicate = await findDuplicate(tx, request, gen)
  if (duplicate) return duplicate
  const reused = await reuseStep(tx, {
    sessionId: ref.sessionId,
    gen,
    key,
    inputHash,
    turn: ref.turn,
    opening: openingWrites(request),
  })
  if (reused === 'inHand') return { kind: 'elsewhere' }
  if (reused && 'outcome' in reused) return { kind: 'settled', gen, outcome: reused.outcome }
  const opening = toParameter(openingWrites(request))
  const { begun = false, decided } = reused ?? {}
  const unbegun = preparing && !begun
  const kept = decided && storableJson(decided)
  if (existing) {
    const { lease } = existing
    const values = [
      ref.sessionId,
      gen,
      key,
      lease,
      request.kind,
      request.name,
      inputHash,
      owner,
      token,
      opening,
      unbegun,
      kept,
    ]
    const [row] = await run<TakenRow>(tx, FIRST_TAKE, values)
    return taken(row, key, { gen, begun, ...(decided && { decided }) })
  }
  const values = [ref.sessionId, key, request.kind, request.name, inputHash, owner, token, opening, gen, unbegun, kept]
  const [inserted] = await run<{ taken: number }>(tx, SLOW_INSERT, values)
  return taken(inserted?.taken === 1 ? FIRST : undefined, key, { gen, begun, ...(decided && { decided }) })
}

function taken(row: TakenRow | undefined, key: string, how: Pick<Mine, 'gen' | 'begun' | 'decided'>): Claim {
  if (!row) throw new StelloError('STORE_UNAVAILABLE', `step ${key} was taken meanwhile`)
  const { lease, failures, deaths, weather } = row
  return { kind: 'mine', ...how, lease, failures, deaths, ...(weather && { weather }) }
}

function fromRow(row: StepRow, request: ClaimRequest, gen: number): Claim | undefined {
  const { run: ref, key, inputHash, owner, token, unheard } = request
  if (row.input_hash !== NEVER_CLAIMED && row.input_hash !== inputHash) {
    throw new StelloError('STORE_CORRUPT', `session ${ref.sessionId}: step ${key} was begun with another input`, {
      hint: `was Temporal or the store restored from a copy? \`stello recover ${ref.sessionId} --restart\` goes on from the store`,
    })
  }
  if (row.outcome !== null) return { kind: 'settled', gen, outcome: row.outcome }
  if (row.pending) return { kind: 'parked', gen, item: row.pending }
  if (row.owner === null) return undefined
  // With a later lease, nobody knows whether the attempt with the lease before had begun the step.
  const first = gen === 0 && row.lease === 1
  if (unheard && first && row.token?.equals(token)) return { kind: 'mine', gen, ...FIRST, begun: false }
  return row.owner === owner
    ? { kind: 'mineAlready', gen, lease: row.lease }
    : { kind: 'busy', gen, lease: row.lease, owner: row.owner }
}

/** Looks for the message in the visible past of the generation. A message that was refused there stays refused. */
async function findDuplicate(
  tx: pg.PoolClient,
  { run: ref, opening }: ClaimRequest,
  gen: number,
): Promise<Extract<Claim, { kind: 'duplicate' }> | undefined> {
  if (!opening) return undefined
  const values = [ref.sessionId, gen, opening.messageId, opening.turn, rejectionKey(opening.messageId)]
  const [row] = await run<{ turn: number | null }>(tx, DUPLICATE, values)
  return row && { kind: 'duplicate', ...(row.turn !== null && { turn: row.turn }) }
}

function openingWrites({ opening }: ClaimRequest): Writes {
  if (!opening) return {}
  const { turn, messageId, record } = opening
  return {
    records: [record],
    turns: [{ turn, messageId, startSeq: record.seq }],
    events: [turnStarted(opening)],
  }
}

/** The event of a turn's begin. Also used for a turn that ends before its model is asked. */
export function turnStarted({ turn, messageId, record }: Opened): NewEvent {
  const data = { turn, messageId, seq: record.seq, text: preview(record.message.content, SHOWN.message) }
  return newEvent('turn.started', { of: [turn], at: { turn, round: 0 }, data })
}
