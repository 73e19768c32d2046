/** Which worker processes there are: who has died without a word left steps that the ledger may know nothing of. */
import { run, type Database, type Statement } from './database.ts'
import { GRACE_MS, HELD, UP_LONG_ENOUGH } from './liveness.ts'

const ENTER: Statement = { name: 'worker_enter', text: `insert into workers (boot_id, agent) values ($1, $2)` }
const LEAVE: Statement = { name: 'worker_leave', text: `delete from workers where boot_id = $1` }
const DEAD: Statement = {
  name: 'workers_dead',
  text: `select boot_id, agent from (select boot_id, boot_id as owner, agent from workers) as known
         where ${UP_LONG_ENOUGH} and not ${HELD}`,
}
const BUSY_SESSIONS: Statement = {
  name: 'sessions_busy',
  text: `select s.id from sessions s where s.agent = $1 and s.closed_at is null and (
           s.run_id is null
           or exists (select from turns t where t.session_id = s.id and t.gen = s.gen and t.status = 'open'))`,
}

export interface KnownWorker {
  bootId: string
  agent: string
}

/** To be called while the worker's liveness lock is held. */
export async function enterWorker(db: Database, worker: KnownWorker): Promise<void> {
  await run(db.pool, ENTER, [worker.bootId, worker.agent])
}

export async function leaveWorker(db: Database, bootId: string): Promise<void> {
  await run(db.pool, LEAVE, [bootId])
}

export async function findDeadWorkers(db: Database, graceMs: number = GRACE_MS): Promise<KnownWorker[]> {
  const rows = await run<{ boot_id: string; agent: string }>(db.pool, DEAD, [graceMs])
  return rows.map((row) => ({ bootId: row.boot_id, agent: row.agent }))
}

/** Sessions that may have an activity under way. */
export async function findBusySessions(db: Database, agent: string): Promise<string[]> {
  const rows = await run<{ id: string }>(db.pool, BUSY_SESSIONS, [agent])
  return rows.map((row) => row.id)
}
