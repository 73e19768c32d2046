/** Sessions, steps and records for the contract tests of the store. */
import { randomBytes } from 'node:crypto'
import type { Message } from '../../src/core/message.ts'
import type { NewEvent } from '../../src/protocol/events.ts'
import type { Place } from '../../src/protocol/steps.ts'
import { claimStep, type Claim, type ClaimRequest, type StepId } from '../../src/store/ledger/claim.ts'
import type { Database } from '../../src/store/database/database.ts'
import { nextRecord } from '../../src/store/ledger/hashes.ts'
import { holdLiveness, newBootId, stealDeadSteps, type Taker } from '../../src/store/ledger/liveness.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { type RunRef } from '../../src/store/ledger/abandon-future.ts'
import { releaseStep, settleStep } from '../../src/store/ledger/settle.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { enterWorker } from '../../src/store/ledger/workers.ts'
import type { NewRecord, NewSessionRow } from '../../src/store/ledger/writes.ts'
import { until } from '../support/until.ts'

export const OWNER = '1001'
export const OTHER_OWNER = '1002'
export const NAMESPACE = 'default'
/** Temporal's answer about a run that was begun last. */
export const NEW_RUN: Pick<RunRef, 'namespace' | 'isNewest'> = { namespace: NAMESPACE, isNewest: async () => true }
/** A worker that looks for the steps of dead workers. */
export const taker = (bootId: string): Taker => ({ bootId, namespace: NAMESPACE })
export const TOKEN: Uint8Array = new Uint8Array([1, 2, 3])

export function newId(): string {
  return `s-${randomBytes(6).toString('hex')}`
}

export function newSessionRow(row: Partial<NewSessionRow> = {}): NewSessionRow {
  const sessionId = row.sessionId ?? newId()
  const config = { agent: 'test', label: 'a session', model: 'agent', tools: 'agent' } as const
  return { sessionId, rootId: sessionId, depth: 0, config, ...row }
}

/** A session whose first run is known. */
export async function openSession(db: Database, row: Partial<NewSessionRow> = {}): Promise<RunRef> {
  const session = newSessionRow(row)
  await createSession(db, session)
  const run = { ...NEW_RUN, sessionId: session.sessionId, runId: 'run-1', gen: 0, turn: 1, place: placeAt(0) }
  await resolveRun(db, run)
  return run
}

export function claim(db: Database, run: RunRef, request: Partial<ClaimRequest> = {}): Promise<Claim> {
  return claimStep(db, {
    run,
    key: 'm1.0',
    kind: 'model',
    name: 'gpt',
    inputHash: 'hash',
    owner: OWNER,
    token: TOKEN,
    durable: true,
    ...request,
  })
}

/** Claims a step that must be free. */
export async function take(db: Database, run: RunRef, request: Partial<ClaimRequest> = {}): Promise<StepId> {
  const claimed = await claim(db, run, request)
  if (claimed.kind !== 'mine') throw new Error(`the step is not free: ${claimed.kind}`)
  return { sessionId: run.sessionId, gen: claimed.gen, key: request.key ?? 'm1.0', lease: claimed.lease }
}

/** As if the worker had died: another one takes the step. */
export async function takeOver(db: Database, run: RunRef, step: StepId, owner: string = OTHER_OWNER): Promise<StepId> {
  await releaseStep(db, step, { failed: false, begun: true })
  return take(db, run, { key: step.key, owner })
}

/** One worker after another takes the step and dies with it. */
export async function killTakers(
  db: Database,
  run: RunRef,
  times: number,
  request: Partial<ClaimRequest> = {},
): Promise<void> {
  for (let n = 0; n < times; n++) {
    await take(db, run, { ...request, owner: await visit(db), alone: true })
    await stealDeadSteps(db, taker('a survivor'))
  }
}

export function userRecord(seq: number, content = `record ${seq}`): NewRecord {
  return nextRecord('', seq, { role: 'user', content })
}

/** Claims and settles one step that writes these messages as records from `seq` on. */
export async function write(db: Database, run: RunRef, key: string, seq: number, messages: Message[]): Promise<void> {
  const step = await take(db, run, { key })
  const records = messages.map((message, i) => nextRecord('', seq + i, message))
  const settled = await settleStep(db, step, { outcome: { kind: 'done', gen: step.gen }, writes: { records } })
  if (!settled.won) throw new Error(`step ${key} was settled by somebody else`)
}

export function opening(turn: number, messageId: string, seq: number): NonNullable<ClaimRequest['opening']> {
  return { turn, messageId, record: userRecord(seq, `message ${messageId}`) }
}

/** Rows of this session in a table. */
export async function countRows(db: Database, table: string, sessionId: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`select count(*)::int as n from ${table} where session_id = $1`, [
    sessionId,
  ])
  return rows[0]?.n ?? 0
}

/** A place after record `seq`, where the model of the turn under way is asked next. */
export function placeAt(seq: number): Place {
  return { seq, told: 0, round: 0, asking: true }
}

/** A run that a reset of Temporal begins after record `seq`. */
export function resetRun(run: RunRef, runId: string, seq: number): RunRef {
  return { ...run, runId, place: placeAt(seq) }
}

/** Begins `work` of a run while another run takes the session over. The take-over ends when `work` waits for it. */
export async function overtaken<T>(db: Database, { sessionId }: RunRef, work: () => Promise<T>): Promise<T> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  const tx = await db.pool.connect()
  await tx.query('begin')
  await tx.query('select from sessions where id = $1 for update', [sessionId])
  const [worked] = await Promise.allSettled([
    work(),
    (async () => {
      await until('the work waits', async () => (await db.pool.query(waiting)).rowCount === 1)
      await tx.query(`update sessions set run_id = 'run-2', gen = 1 where id = $1`, [sessionId])
      await tx.query(`insert into runs (session_id, run_id, gen) values ($1, 'run-2', 1)`, [sessionId])
      await tx.query('commit')
      tx.release()
    })(),
  ])
  if (worked.status === 'rejected') throw worked.reason
  return worked.value
}

/**
 * Some worker has held its lock on this server. So a worker that holds none is dead when the grace time is over.
 *
 * @returns the boot id of that worker, which is dead itself
 */
export async function visit(db: Database): Promise<string> {
  const bootId = newBootId()
  const held = await holdLiveness(db.url, bootId)
  await enterWorker(db, { bootId, agent: 'visitor', namespace: NAMESPACE })
  await held.release()
  return bootId
}

/** An event with any content. The store looks only at its key and its place. */
export function someEvent(event: Omit<NewEvent, 'type' | 'data'> & { type: string; data?: object }): NewEvent {
  return { data: {}, ...event } as NewEvent
}
