/**
 * Finds out whether a worker process lives (durability 4). A living worker holds an advisory lock on its boot id over a
 * connection of its own, and the server frees the lock when the connection ends. So host names, process ids and the
 * clocks of workers do not matter.
 *
 * A lock is also free if its holder has not reached this server yet: PostgreSQL was restarted, a replica was promoted,
 * or a copy took the server's place. So each worker says in `holders` on which server it holds its lock. A worker that
 * was never on this server is not dead, unless another worker has been here for longer than the grace time.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { NEVER_IDLE, connectionConfig } from '../database/connection.ts'
import { cannotBeUsed, run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { TELL_TAKEN_OVER } from './taken-over.ts'

/** After the first worker has reached another server, the others have this long to take their locks there. */
export const GRACE_MS = 15_000
const RETAKE_EVERY_MS = 100
/**
 * Wait before the second look at a worker that seems dead. A worker whose connection was cut has its lock back by then.
 */
const DOUBT_MS = 250
/** A session is locked for the moment in which one of its steps is settled. */
const STEAL_TRIES = 5
const STEAL_AGAIN_MS = 50
const doubt = (): Promise<void> => delay(DOUBT_MS)

/**
 * Makes a random id for each process. It is positive, so that it reads the same as text, as bigint and in `pg_locks`.
 */
export function newBootId(): string {
  return (randomBytes(8).readBigUInt64BE() & 0x7fff_ffff_ffff_ffffn).toString()
}

/** SQL: true while the lock of `owner::bigint` is held. */
export const HELD = `exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = owner::bigint
)`
/**
 * SQL: the name of this server. It changes with each start and is different in each copy of the database. It does not
 * change when one of PostgreSQL's processes crashes and the postmaster restarts the others, but then `holders` is
 * empty, because it is unlogged. It is also empty in a promoted replica.
 */
export const SERVER = `(
  select concat(extract(epoch from pg_postmaster_start_time()), '/', oid) from pg_database where datname = current_database()
)`
/** SQL: true if the worker `owner` is dead. `$1` is the grace in milliseconds. */
export const DEAD: string = `(not ${HELD} and exists (
  select from holders h
  where h.server = ${SERVER} and (h.boot_id = owner or h.since <= now() - $1 * interval '1 millisecond')
))`
/**
 * SQL: 1 if the worker `owner` died with its steps in hand, 0 if it left in order (`leaveWorker`). An update that takes
 * a step from a dead worker adds this to the step's `deaths`, as long as the dead worker still holds the step.
 */
export const DIED = `(exists (select from workers w where w.boot_id = owner))::integer`

const LOCK: Statement = statement('liveness_lock', 'select pg_advisory_lock_shared($1::bigint)')
const IS_ALIVE: Statement = statement(
  'is_alive',
  `select not ${DEAD} as alive from (select $2::text as owner) as asked`,
)
/**
 * SQL: true for a session in the namespace `$3` of Temporal. The attempts of other sessions can only be ended in their
 * own namespace.
 */
const HERE = `exists (select from sessions s where s.id = steps.session_id and coalesce(s.namespace, $3) = $3)`
const SUSPECTS: Statement = statement(
  'suspects',
  `select distinct owner from steps where outcome is null and owner <> $2 and ${DEAD} and ${HERE}`,
)
/** Raises the lease before the attempts are ended: if the owner lives after all, it can no longer settle the step. Waits for nobody:
 * a step that somebody has locked is left for the next look. */
const STEAL: Statement = statement(
  'steal',
  `
  with free as (
    select id from sessions where id in (select session_id from steps where outcome is null and owner = any($2))
    for no key update skip locked
  ), dead as (
    select session_id, gen, step_key, kind, name, lease, owner, begun_at, token, ${DIED} as died from steps
    where outcome is null and owner = any($2) and ${DEAD} and ${HERE} and session_id in (select id from free)
    for update skip locked
  ), taken as (
    update steps set lease = steps.lease + 1, owner = null, token = null, deaths = steps.deaths + dead.died
    from dead where steps.session_id = dead.session_id and steps.gen = dead.gen and steps.step_key = dead.step_key
    returning dead.*
  ), ${TELL_TAKEN_OVER}
  select session_id, step_key, token from taken`,
)

export interface StolenStep {
  sessionId: string
  key: string
  /** Temporal's token of the attempt that died. */
  token: Buffer
}

/** A worker that looks for steps of dead workers. It can end their attempts only in its own namespace. */
export interface Taker {
  bootId: string
  namespace: string
}

/** How a death is made sure of. */
interface Doubting {
  /** The grace of workers that were never on this server. Unset: `GRACE_MS`. */
  graceMs?: number | undefined
  /** Waits before a death is believed. */
  doubted?: () => Promise<void>
}

export async function isAlive(
  db: Database,
  owner: string,
  { graceMs = GRACE_MS, doubted = doubt }: Doubting = {},
): Promise<boolean> {
  const seemsAlive = async (): Promise<boolean> => {
    const [row] = await run<{ alive: boolean }>(db.pool, IS_ALIVE, [graceMs, owner])
    return row?.alive ?? true
  }
  if (await seemsAlive()) return true
  await doubted()
  return seemsAlive()
}

/**
 * Takes the unsettled steps of dead workers away from them. The caller then ends their attempts, so that Temporal
 * schedules new ones.
 *
 * @param self the worker that asks; it lives, even if its lock is lost
 */
export async function stealDeadSteps(
  db: Database,
  self: Taker,
  { graceMs = GRACE_MS, doubted = doubt }: Doubting = {},
): Promise<StolenStep[]> {
  const { bootId, namespace } = self
  const look = (): Promise<{ owner: string }[]> => run(db.pool, SUSPECTS, [graceMs, bootId, namespace])
  const suspects = await look()
  if (suspects.length === 0) return []
  await doubted()
  const values = [graceMs, suspects.map(({ owner }) => owner), namespace]
  const stolen: StolenStep[] = []
  for (let tries = 0; tries < STEAL_TRIES; tries++) {
    if (tries > 0) await delay(STEAL_AGAIN_MS)
    const taking = run<{ session_id: string; step_key: string; token: Buffer }>(db.pool, STEAL, values)
    // What was taken so far must get back to the caller, who ends those attempts.
    const rows = await (tries === 0 ? taking : taking.catch(() => []))
    stolen.push(...rows.map((row) => ({ sessionId: row.session_id, key: row.step_key, token: row.token })))
    if ((await look().catch(() => [])).length === 0) break
  }
  return stolen
}

/**
 * How many connections hold the lock of a worker. With two, the lock stays when one is cut. That is needed, because the
 * server may have no connection left for its replacement.
 */
const CONNECTIONS = 2

export interface Liveness {
  /**
   * Whether any connection holds the lock. If none does, others think that this worker is dead and would take its new
   * steps away.
   */
  held(): boolean
  release(): Promise<void>
}

export type LivenessChange =
  /** A connection has ended. The server may have been restarted, or even restored from a copy. */
  | { kind: 'lost' }
  /** The connection cannot be replaced yet. This is told once, and the worker tries until it succeeds. */
  | { kind: 'refused'; error: unknown }
  /**
   * The connection is replaced. Nobody watched the server in between, so perhaps it was restored from a copy after the
   * loss was told.
   */
  | { kind: 'back' }

/**
 * Holds the lock of `bootId` over connections of its own until it is released. A lost connection is replaced.
 *
 * @param changed called with each change of a connection, and whether any connection holds the lock now
 * @throws StelloError DATABASE_UNREACHABLE
 */
export async function holdLiveness(
  url: string,
  bootId: string,
  changed: (change: LivenessChange, held: boolean) => void = () => undefined,
): Promise<Liveness> {
  const holding = new Set<pg.Client>()
  let released = false
  const tell = (change: LivenessChange): void => changed(change, holding.size > 0)
  const keep = (client: pg.Client): void => {
    holding.add(client)
    client.once('end', () => {
      holding.delete(client)
      if (released) return
      tell({ kind: 'lost' })
      void replace()
    })
  }
  const replace = async (): Promise<void> => {
    for (let tries = 1; !released; tries++) {
      try {
        const client = await lock(url, bootId)
        if (released) return await client.end()
        keep(client)
        return tell({ kind: 'back' })
      } catch (error) {
        if (tries === 1) tell({ kind: 'refused', error })
        await delay(RETAKE_EVERY_MS, undefined, { ref: false })
      }
    }
  }
  const release = async (): Promise<void> => {
    released = true
    await Promise.all([...holding].map((client) => client.end()))
  }
  try {
    while (holding.size < CONNECTIONS) keep(await lock(url, bootId))
  } catch (error) {
    await release()
    throw cannotBeUsed(url, error)
  }
  return { held: () => holding.size > 0, release }
}

/** Takes a shared lock, so that several connections of one worker can hold it. */
async function lock(url: string, bootId: string): Promise<pg.Client> {
  const client = new pg.Client(connectionConfig(url, 'stello-liveness', NEVER_IDLE))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(LOCK.text, [bootId])
    return client
  } catch (error) {
    void client.end().catch(() => undefined)
    throw error
  }
}
