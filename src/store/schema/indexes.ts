/**
 * Builds and drops indexes while others work: a table stays readable and writable. PostgreSQL leaves an unfinished
 * index as invalid, and this code replaces it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { messageOf } from '../../core/errors.ts'
import { connectionConfig } from '../database/connection.ts'
import { toStoreError, type Database } from '../database/database.ts'
import { INDEXES } from './migrations.ts'
import { statement, type Statement } from '../database/statement.ts'

/**
 * Any number that nobody else locks. Without the lock, two processes that build indexes would wait for each other for
 * ever.
 */
const LOCK = 731_406_114
const LOOK_AGAIN_MS = 200
/** An index waits for every transaction that was open before it, and a backup may take hours. */
const WAIT_MS = 10_000

const TRY_LOCK: Statement = statement('indexes_lock', `select pg_try_advisory_lock(${LOCK}) as locked`)
const STATES: Statement = statement(
  'indexes_states',
  `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
   where c.oid = any(select to_regclass(name) from unnest($1::text[]) as name)`,
)

export interface IndexesOptions {
  /** Longest wait for transactions of others, each time, milliseconds. Default 10 s, 0: as long as it takes. */
  waitMs?: number
  /** Indexes by name: the text after `create index <name>`, or null for one that must be dropped. */
  definitions?: Readonly<Record<string, string | null>>
}

/**
 * Brings the indexes up to date. A second call does what is left.
 *
 * @returns names of those that could not be built or dropped now, with the reason; the store works without
 * @throws StelloError STORE_UNAVAILABLE
 */
export async function updateIndexes(
  db: Database,
  { waitMs = WAIT_MS, definitions = INDEXES }: IndexesOptions = {},
): Promise<Map<string, string>> {
  const failed = new Map<string, string>()
  if (Object.keys(definitions).length === 0) return failed
  const client = new pg.Client(connectionConfig(db.url, 'stello-indexes'))
  client.on('error', () => undefined)
  try {
    await client.connect()
    if ((await due(client, definitions)).length === 0) return failed
    await client.query(`set lock_timeout = ${waitMs}`)
    // The build of an index waits for open statements, also for one that waits for this lock. So no statement waits for
    // the lock: it is tried again and again.
    while (!(await tryLock(client))) await delay(LOOK_AGAIN_MS)
    for (const [name, definition] of await due(client, definitions)) {
      try {
        await client.query(`drop index concurrently if exists ${name}`)
        if (definition !== null) await client.query(`create index concurrently ${name} ${definition}`)
      } catch (error) {
        failed.set(name, messageOf(error))
      }
    }
    return failed
  } catch (error) {
    throw toStoreError(error)
  } finally {
    await client.end()
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK.text)
  return rows[0]?.locked === true
}

/** The indexes that are missing or invalid, and those that must be dropped. */
async function due(
  client: pg.Client,
  definitions: Readonly<Record<string, string | null>>,
): Promise<[string, string | null][]> {
  const { rows } = await client.query<{ name: string; valid: boolean }>(STATES.text, [Object.keys(definitions)])
  const valid = new Map(rows.map((row) => [row.name, row.valid]))
  return Object.entries(definitions).filter(([name, definition]) =>
    definition === null ? valid.has(name) : valid.get(name) !== true,
  )
}
