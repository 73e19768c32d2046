/**
 * Whether a worker process lives (durability 4): it holds an advisory lock on its boot id over a connection of its own.
 * No host name, no pid, no clock of a worker takes part: the server frees the lock when the connection ends.
 *
 * A lock is free, too, where its holder has not arrived yet: PostgreSQL was restarted, a replica was promoted, a copy
 * was put in its place. So workers say in `holders` on which server they hold their lock, and nobody is dead who has not
 * been there, unless somebody else has been there for long.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { NEVER_IDLE, connectionConfig } from './connection.ts'
import { cannotBeUsed, run, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

/** After the first worker has reached another server, the others have this long to take their locks there. */
export const GRACE_MS = 15_000
const RETAKE_EVERY_MS = 100
/** How long a worker that seems dead is given before a second look: a lock whose connection was cut is back by then. */
const DOUBT_MS = 250
const doubt = (): Promise<void> => delay(DOUBT_MS)

/** Random for each process; positive, so that it reads the same as text, as bigint and in `pg_locks`. */
export function newBootId(): string {
  return (randomBytes(8).readBigUInt64BE() & 0x7fff_ffff_ffff_ffffn).toString()
}

/** True while the lock of `owner::bigint` is held. */
export const HELD = `exists (
  select from pg_locks l
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = owner::bigint
)`
/**
 * Another one after each start and in each copy of the database. `holders` is unlogged, so it is empty, too, after the
 * crash of one of PostgreSQL's processes, which restarts all below the postmaster, and in a promoted replica.
 */
export const SERVER = `(
  select concat(extract(epoch from pg_postmaster_start_time()), '/', oid) from pg_database where datname = current_database()
)`
/** True if the worker `owner` is dead; `$1` is the grace in milliseconds. */
export const DEAD: string = `(not ${HELD} and exists (
  select from holders h
  where h.server = ${SERVER} and (h.boot_id = owner or h.since <= now() - $1 * interval '1 millisecond')
))`
/**
 * 1 if the dead worker `owner` died with what it had in hand, 0 if it left in order (`leaveWorker`): an update that
 * takes a step from a dead worker adds this to its `deaths`, on condition that it is the dead one's still.
 */
export const DIED = `(exists (select from workers w where w.boot_id = owner))::integer`

const LOCK: Statement = statement('liveness_lock', 'select pg_advisory_lock_shared($1::bigint)')
const IS_ALIVE: Statement = statement(
  'is_alive',
  `select not ${DEAD} as alive from (select $2::text as owner) as asked`,
)
/** Of a session in another namespace of Temporal, the attempt can be ended there only. Which one `$3` is. */
const HERE = `exists (select from sessions s where s.id = steps.session_id and coalesce(s.namespace, $3) = $3)`
const SUSPECTS: Statement = statement(
  'suspects',
  `select distinct owner from steps where outcome is null and owner <> $2 and ${DEAD} and ${HERE}`,
)
/** First the lease is raised: if the owner lives after all, it cannot settle any more. */
const STEAL: Statement = statement(
  'steal',
  `
  with dead as (
    select session_id, gen, step_key, token, ${DIED} as died from steps
    where outcome is null and owner = any($2) and ${DEAD} and ${HERE}
    for update skip locked
  )
  update steps set lease = lease + 1, owner = null, token = null, deaths = deaths + dead.died
  from dead where steps.session_id = dead.session_id and steps.gen = dead.gen and steps.step_key = dead.step_key
  returning steps.session_id, steps.step_key, dead.token`,
)

export interface StolenStep {
  sessionId: string
  key: string
  /** Temporal's token of the attempt that died. */
  token: Buffer
}

/** A worker that looks for what others left: only in its own namespace can it end their attempts. */
export interface Taker {
  bootId: string
  namespace: string
}

/** @param doubted waits before a death is believed */
export async function isAlive(
  db: Database,
  owner: string,
  graceMs: number = GRACE_MS,
  doubted: () => Promise<void> = doubt,
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
 * Fences the unsettled steps of dead workers. The caller then ends their attempts, so that Temporal schedules others.
 *
 * @param self the worker that asks: it lives, whatever has become of its lock
 * @param doubted waits before a death is believed
 */
export async function stealDeadSteps(
  db: Database,
  self: Taker,
  graceMs: number = GRACE_MS,
  doubted: () => Promise<void> = doubt,
): Promise<StolenStep[]> {
  const { bootId, namespace } = self
  const suspects = await run<{ owner: string }>(db.pool, SUSPECTS, [graceMs, bootId, namespace])
  if (suspects.length === 0) return []
  await doubted()
  const values = [graceMs, suspects.map(({ owner }) => owner), namespace]
  const rows = await run<{ session_id: string; step_key: string; token: Buffer }>(db.pool, STEAL, values)
  return rows.map((row) => ({ sessionId: row.session_id, key: row.step_key, token: row.token }))
}

/** How many connections hold the lock of a worker: one that is cut frees nothing, and its place may be gone when it is to be taken again. */
const CONNECTIONS = 2

export interface Liveness {
  /** Whether any connection holds the lock. Without, others take this worker for dead, and what it begins would be taken from it. */
  held(): boolean
  release(): Promise<void>
}

export type LivenessChange =
  /** A connection has ended. The server may have been restarted, or even restored from a copy. */
  | { kind: 'lost' }
  /** It cannot be replaced yet, and is tried until it is; told once. */
  | { kind: 'refused'; error: unknown }
  /** It is replaced. Nobody has watched meanwhile: the server may have been restored since the loss was told. */
  | { kind: 'back' }

/**
 * Holds the lock of `bootId` over connections of its own until released; each that is lost is replaced.
 *
 * @param changed told what becomes of a connection, and whether any holds the lock now
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

/** Shared, so that several connections of one worker hold it. */
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
