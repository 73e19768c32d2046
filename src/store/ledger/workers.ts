/**
 * The list of worker processes. A worker that died without leaving may have left activities that the ledger does not
 * know.
 */
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { DEAD, GRACE_MS, HELD, SERVER, type Taker } from './liveness.ts'

/** Also stores the server on which the worker holds its lock, if it holds it. */
const ENTER: Statement = statement(
  'worker_enter',
  `with known as (insert into workers (boot_id, agent, namespace) values ($1, $2, $3) on conflict do nothing)
         insert into holders (boot_id, server) select owner, ${SERVER} from (select $1::text as owner) as asked where ${HELD}
         on conflict (boot_id) do update set server = excluded.server, since = excluded.since
           where holders.server <> excluded.server`,
)
/**
 * The worker's row in `holders` stays for a while, so that others see at once that nobody holds the steps that it left.
 */
const LEAVE: Statement = statement(
  'worker_leave',
  `with forgotten as (
           delete from holders h where h.boot_id <> $1 and h.since < now() - interval '1 hour'
             and not exists (select from workers w where w.boot_id = h.boot_id)
         )
         delete from workers where boot_id = $1`,
)
/**
 * One worker searches for the steps of a dead worker, until it is done, gives up, or is dead itself. When two claim at
 * once, the second waits for the first and then compares the column `searcher`. It cannot rely on `pg_locks` then,
 * because PostgreSQL checks such conditions anew only for the first of these rows.
 */
const CLAIM_DEAD: Statement = statement(
  'workers_claim_dead',
  `with free as materialized (
           select boot_id as dead, searcher as before from (select boot_id, boot_id as owner, searcher, namespace from workers) as known
           where boot_id <> $2 and namespace = $3 and ${DEAD}
             and not exists (select from (select searcher as owner) as other where owner <> $2 and ${HELD})
         )
         update workers set searcher = $2 from free where boot_id = dead and searcher is not distinct from before
         returning boot_id, agent`,
)
const GIVE_UP: Statement = statement('workers_give_up', `update workers set searcher = null where searcher = $1`)
/** The workers among `$1` in the namespace `$2` that no longer hold a step which the caller could take from them. */
const CLEARED: Statement = statement(
  'workers_cleared',
  `select owner from unnest($1::text[]) as asked(owner) where not exists (
           select from steps join sessions s on s.id = steps.session_id
           where steps.outcome is null and steps.owner = asked.owner and coalesce(s.namespace, $2) = $2
         )`,
)
/** This is longer than Temporal waits for the heartbeat of an attempt. */
const CLOSED_SINCE = "interval '2 minutes'"
/**
 * Sessions with an open turn come first, then those that were busy last. They alternate with sessions that were never
 * opened, newest first. Only the last turn of each session is read.
 */
const PERHAPS_BUSY: Statement = statement(
  'sessions_perhaps_busy',
  `
  select id from (
    select s.id, row_number() over (
      partition by s.run_id is null order by last.turn_ended desc nulls last, s.created_at desc) as place
    from sessions s left join lateral (
      select coalesce(t.ended_at, 'infinity') as turn_ended from turns t
      where t.session_id = s.id order by t.gen desc, t.turn desc limit 1
    ) last on true
    where s.agent = $1 and coalesce(s.namespace, $3) = $3 and coalesce(s.closed_at, 'infinity') > now() - ${CLOSED_SINCE}
  ) ranked
  order by place limit $2`,
)

/**
 * Temporal's list of pollers is not enough: it shows dead workers for minutes, and workers of other stores. The lock is
 * exact.
 */
const SERVED: Statement = statement(
  'agents_served',
  `select distinct agent from (
           select boot_id as owner, agent from workers where namespace = $1
         ) as known where ${HELD} order by agent`,
)
export interface KnownWorker extends Taker {
  agent: string
}

/** To be called while the worker holds its liveness lock. */
export async function enterWorker(db: Database, worker: KnownWorker): Promise<void> {
  await run(db.pool, ENTER, [worker.bootId, worker.agent, worker.namespace])
}

/** The agents that living workers serve in this namespace of Temporal. */
export async function readServedAgents(db: Database, namespace: string): Promise<string[]> {
  return (await run<{ agent: string }>(db.pool, SERVED, [namespace])).map(({ agent }) => agent)
}

export async function leaveWorker(db: Database, bootId: string): Promise<void> {
  await run(db.pool, LEAVE, [bootId])
}

/**
 * Claims the dead workers of the caller's namespace that no other worker searches for. A claim lasts while the caller
 * lives, until the dead worker's row is deleted (`leaveWorker`) or the caller gives up.
 */
export async function claimDeadWorkers(
  db: Database,
  { bootId, namespace }: Taker,
  graceMs: number = GRACE_MS,
): Promise<KnownWorker[]> {
  const rows = await run<{ boot_id: string; agent: string }>(db.pool, CLAIM_DEAD, [graceMs, bootId, namespace])
  return rows.map((row) => ({ bootId: row.boot_id, agent: row.agent, namespace }))
}

/**
 * The claimed dead workers whose steps were all taken from them. The others must not be forgotten yet: the worker that takes
 * their last steps asks the list of workers whether they died (`DIED`).
 */
export async function withoutSteps(
  db: Database,
  dead: readonly KnownWorker[],
  { namespace }: Taker,
): Promise<KnownWorker[]> {
  if (dead.length === 0) return []
  const rows = await run<{ owner: string }>(db.pool, CLEARED, [dead.map(({ bootId }) => bootId), namespace])
  const cleared = new Set(rows.map(({ owner }) => owner))
  return dead.filter(({ bootId }) => cleared.has(bootId))
}

/** Lets others search for the dead workers that `self` has claimed. */
export async function giveUpDeadWorkers(db: Database, self: string): Promise<void> {
  await run(db.pool, GIVE_UP, [self])
}

/**
 * Sessions that may have an activity under way that the store does not know. A session whose turn has ended belongs to
 * them too: perhaps it just gets its next message, or has not heard yet how the last turn ended.
 */
export async function findPerhapsBusySessions(
  db: Database,
  { agent, namespace }: Omit<KnownWorker, 'bootId'>,
  limit: number,
): Promise<string[]> {
  const rows = await run<{ id: string }>(db.pool, PERHAPS_BUSY, [agent, limit, namespace])
  return rows.map((row) => row.id)
}
