/**
 * Compares the schema with this version and brings it up to date. If two workers do so at the same time, one waits for
 * the other. A newer schema is no problem if it says that this version may use it.
 */
import type pg from 'pg'
import { StelloError, messageOf } from '../../core/errors.ts'
import { openDatabase, run, transaction, type Database } from '../database/database.ts'
import { MIGRATIONS } from './migrations.ts'
import { statement, type Statement } from '../database/statement.ts'

const KNOWN: readonly string[] = Object.keys(MIGRATIONS)
const FIRST = KNOWN[0]
/** Any number that nobody else locks. */
const LOCK = 731_406_113

export interface Schema {
  /** The last migration that was run. Unset: none was run. */
  newest?: string
  /** Migrations of this version that were not run yet. */
  missing: string[]
  /** Migrations that a newer version has run. */
  unknown: string[]
  /** This version can use the schema as it is. */
  usable: boolean
  /**
   * The database has tables with our names from a version before the first release or from another program. Nothing can
   * be done.
   */
  foreign: boolean
}

const THERE: Statement = statement(
  'schema_there',
  `select to_regclass('migrations') is not null as migrated, to_regclass('compatibility') is not null as stated,
           to_regclass('sessions') is not null as begun`,
  { prepared: false },
)
const DONE: Statement = statement('schema_done', 'select name from migrations order by name', { prepared: false })
const OLDEST: Statement = statement('schema_oldest', 'select oldest from compatibility', { prepared: false })
const NOTE: Statement = statement('schema_note', 'insert into migrations (name) values ($1)', { prepared: false })
const ONE_AT_A_TIME: Statement = statement('schema_lock', `select pg_advisory_xact_lock(${LOCK})`, { prepared: false })

/** For people: what is wrong with a foreign schema, and what to do about it. */
export const FOREIGN = {
  what: 'the database holds tables of a version of stello-temporal before its first release, or of another program',
  hint: 'use a new database (`createdb`, STELLO_DATABASE_URL); `stello dev --fresh` throws away the data of `stello dev`',
} as const

/** Looks at the schema and changes nothing. @throws StelloError STORE_UNAVAILABLE */
export function readSchema(db: Database): Promise<Schema> {
  return readOn(db.pool)
}

async function readOn(on: pg.Pool | pg.PoolClient): Promise<Schema> {
  const [there] = await run<{ migrated: boolean; stated: boolean; begun: boolean }>(on, THERE, [])
  const done = there?.migrated ? (await run<{ name: string }>(on, DONE, [])).map(({ name }) => name) : []
  const [compatibility] = there?.stated ? await run<{ oldest: string }>(on, OLDEST, []) : []
  const foreign = there?.begun === true && !done.includes(FIRST ?? '')
  return { ...schemaOf(done, compatibility?.oldest), ...(foreign && { usable: false }), foreign }
}

/**
 * @param done names of the migrations that were run, in order
 * @param oldest the last migration that a version must know to use the schema; unset: the schema does not say
 */
export function schemaOf(
  done: readonly string[],
  oldest?: string,
  known: readonly string[] = KNOWN,
): Omit<Schema, 'foreign'> {
  const missing = known.filter((name) => !done.includes(name))
  const unknown = done.filter((name) => !known.includes(name))
  const newest = done.at(-1)
  const tolerated = unknown.length === 0 || (oldest !== undefined && oldest <= (known.at(-1) ?? ''))
  return { missing, unknown, usable: missing.length === 0 && tolerated, ...(newest !== undefined && { newest }) }
}

/**
 * Brings the schema up to date under an advisory lock. A schema that a newer version has changed stays as it is.
 *
 * @returns names of the migrations that were run
 * @throws StelloError DATABASE_UNREACHABLE when that fails, also when this version is too old for the schema
 */
export async function migrate(db: Database): Promise<string[]> {
  // A change of a large table may take long, and so may the wait for another worker that makes it.
  const patient = openDatabase(db.url, { answerWithinMs: 0 })
  try {
    if (isUsable(await readSchema(patient))) return []
    return await transaction(patient, runMissing)
  } catch (error) {
    // This user may not create tables, but perhaps another worker with that right was faster.
    if (isUsable(await readSchema(patient))) return []
    throw new StelloError('DATABASE_UNREACHABLE', `the schema cannot be brought up to date: ${messageOf(error)}`, {
      hint: 'give the database user the right to create tables, or let one that has it run `stello migrate`',
      cause: error,
    })
  } finally {
    await patient.close()
  }
}

/** Runs all missing migrations or none. */
async function runMissing(tx: pg.PoolClient): Promise<string[]> {
  await run(tx, ONE_AT_A_TIME, [])
  // This also makes the server forget which tables it did not find before we had the lock.
  await tx.query('create table if not exists migrations (name text primary key, at timestamptz not null default now())')
  // Perhaps another worker was faster, even one of a newer version.
  const schema = await readOn(tx)
  if (isUsable(schema)) return []
  for (const name of schema.missing) {
    await tx.query(MIGRATIONS[name] ?? '')
    await run(tx, NOTE, [name])
  }
  return schema.missing
}

/**
 * For a worker that may not change the schema.
 *
 * @throws StelloError DATABASE_UNREACHABLE unless this version can use the schema as it is
 */
export async function checkSchema(db: Database): Promise<void> {
  const schema = await readSchema(db)
  if (isUsable(schema)) return
  throw new StelloError('DATABASE_UNREACHABLE', `the schema lacks ${schema.missing.join(', ')}`, {
    hint: 'run `stello migrate` with a user that may create tables, or start a worker without --no-migrate',
  })
}

/**
 * @throws StelloError DATABASE_UNREACHABLE when it can never be used: a newer version has changed the schema, or it
 *   is not ours
 */
function isUsable({ usable, unknown, foreign }: Schema): boolean {
  if (foreign) throw new StelloError('DATABASE_UNREACHABLE', FOREIGN.what, { hint: FOREIGN.hint })
  if (usable || unknown.length === 0) return usable
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    `the schema was changed by a newer version (${unknown.join(', ')}), which this one cannot work on`,
    { hint: 'update stello-temporal' },
  )
}
