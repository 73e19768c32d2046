/** Takes a step: the first half of the ledger rule (durability 2). At most one attempt gets `mine`. */
import type pg from 'pg'
import { storableJson } from '../../core/clean.ts'
import { StelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { newEvent, rejectionKey, type NewEvent } from '../../protocol/events.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import type { Decided } from '../../protocol/read-answer.ts'
import { run, transaction, type Database } from '../database/database.ts'
import {
  DUPLICATE,
  FAST_CLAIM,
  FAST_OPENING,
  FIRST_TAKE,
  READ_STEP,
  READ_WROTE,
  RETAKE,
  SESSION_STATE,
  SLOW_INSERT,
  type HeldUpSoFar,
  type StepRow,
  type TakenRow,
} from './claim-statements.ts'
import { resolveRun } from './runs.ts'
import { type RunRef } from './abandon-future.ts'
import { wholeOutcome } from '../transcript/from-records.ts'
import type { Wrote } from '../transcript/records.ts'
import { reuseStep } from './reuse.ts'
import { toParameter, type NewRecord, type Writes } from './writes.ts'
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

/** The attempt holds the step and runs it. */
export type Mine = Extract<Claim, { kind: 'mine' }>

/**
 * The input hash of a step that nobody has claimed: it only waits, or was ended from outside. Its opening is not
 * written yet.
 */
const NEVER_CLAIMED = ''

/** The counters of a step that is taken for the first time. */
const FIRST = { lease: 1, failures: 0, deaths: 0 } as const

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
