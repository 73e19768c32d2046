/**
 * How the schema and this version stand to each other, and how the one comes up to the other. Two workers that do so at
 * once wait for each other. A newer schema is no hindrance, as long as it says that this version may work on it.
 */
import type pg from 'pg'
import { StelloError, messageOf } from '../core/errors.ts'
import { openDatabase, run, transaction, type Database } from './database.ts'
import { MIGRATIONS } from './migrations.ts'
import { statement, type Statement } from './statement.ts'

const KNOWN: readonly string[] = Object.keys(MIGRATIONS)
const FIRST = KNOWN[0]
/** Any number nobody else locks. */
const LOCK = 731_406_113

export interface Schema {
  /** The last migration that was run; unset: none was. */
  newest?: string
  /** Of this version, not run yet. */
  missing: string[]
  /** Run by a newer version. */
  unknown: string[]
  /** This version can work on it as it is. */
  usable: boolean
  /** Tables of a version before the first release, or of another program, stand where ours would: nothing can be done. */
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
 * @param oldest the last migration that a version must know to work on the schema; unset: the schema does not say
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
 * Brings the schema up to date, under an advisory lock. One that a newer version has changed stays as it is.
 *
 * @returns names of the migrations that were run
 * @throws StelloError DATABASE_UNREACHABLE when it cannot, also when this version is too old for the schema
 */
export async function migrate(db: Database): Promise<string[]> {
  // To change a large table, or to wait for another worker that does, may take long.
  const patient = openDatabase(db.url, { answerWithinMs: 0 })
  try {
    if (isUsable(await readSchema(patient))) return []
    return await transaction(patient, runMissing)
  } catch (error) {
    // One that may create tables may have been faster than one that may not.
    if (isUsable(await readSchema(patient))) return []
    throw new StelloError('DATABASE_UNREACHABLE', `the schema cannot be brought up to date: ${messageOf(error)}`, {
      hint: 'give the database user the right to create tables, or let one that has it run `stello migrate`',
      cause: error,
    })
  } finally {
    await patient.close()
  }
}

/** All of them or none. */
async function runMissing(tx: pg.PoolClient): Promise<string[]> {
  await run(tx, ONE_AT_A_TIME, [])
  // Also makes the server forget which tables it did not find before the lock was had.
  await tx.query('create table if not exists migrations (name text primary key, at timestamptz not null default now())')
  // Another, also a newer version, may have been faster.
  const schema = await readOn(tx)
  if (isUsable(schema)) return []
  for (const name of schema.missing) {
    await tx.query(MIGRATIONS[name] ?? '')
    await run(tx, NOTE, [name])
  }
  return schema.missing
}

/**
 * For who may not change the schema.
 *
 * @throws StelloError DATABASE_UNREACHABLE unless this version can work on it as it is
 */
export async function checkSchema(db: Database): Promise<void> {
  const schema = await readSchema(db)
  if (isUsable(schema)) return
  throw new StelloError('DATABASE_UNREACHABLE', `the schema lacks ${schema.missing.join(', ')}`, {
    hint: 'run `stello migrate` with a user that may create tables, or start a worker without --no-migrate',
  })
}

/** @throws StelloError DATABASE_UNREACHABLE when it never will be: a newer version has changed the schema, or it is none of ours */
function isUsable({ usable, unknown, foreign }: Schema): boolean {
  if (foreign) throw new StelloError('DATABASE_UNREACHABLE', FOREIGN.what, { hint: FOREIGN.hint })
  if (usable || unknown.length === 0) return usable
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    `the schema was changed by a newer version (${unknown.join(', ')}), which this one cannot work on`,
    { hint: 'update stello-temporal' },
  )
}
