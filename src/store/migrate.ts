/**
 * How the schema and this version stand to each other, and how the one comes up to the other. Two workers that do so at
 * once wait for each other. A newer schema is no hindrance, as long as it says that this version may work on it.
 */
import { Kysely, Migrator, PostgresDialect, sql } from 'kysely'
import { StelloError, messageOf } from '../core/errors.ts'
import { openDatabase, run, type Database, type Statement } from './database.ts'
import { MIGRATIONS } from './migrations.ts'

const KNOWN: readonly string[] = Object.keys(MIGRATIONS)

export interface Schema {
  /** The last migration that was run; unset: none was. */
  newest?: string
  /** Of this version, not run yet. */
  missing: string[]
  /** Run by a newer version. */
  unknown: string[]
  /** This version can work on it as it is. */
  usable: boolean
}

const THERE: Statement = {
  text: `select to_regclass('kysely_migration') is not null as migrated, to_regclass('compatibility') is not null as stated`,
}
const DONE: Statement = { text: 'select name from kysely_migration order by name' }
const OLDEST: Statement = { text: 'select oldest from compatibility' }

/** Looks at the schema and changes nothing. @throws StelloError STORE_UNAVAILABLE */
export async function readSchema(db: Database): Promise<Schema> {
  const [there] = await run<{ migrated: boolean; stated: boolean }>(db.pool, THERE, [])
  const done = there?.migrated ? (await run<{ name: string }>(db.pool, DONE, [])).map(({ name }) => name) : []
  const [compatibility] = there?.stated ? await run<{ oldest: string }>(db.pool, OLDEST, []) : []
  return schemaOf(done, compatibility?.oldest)
}

/**
 * @param done names of the migrations that were run, in order
 * @param oldest the last migration that a version must know to work on the schema; unset: the schema does not say
 */
export function schemaOf(done: readonly string[], oldest?: string, known: readonly string[] = KNOWN): Schema {
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
    const { error, results = [] } = await migratorOf(patient).migrateToLatest()
    if (error === undefined) return results.map(({ migrationName }) => migrationName)
    // A newer version may have been faster.
    if (isUsable(await readSchema(patient))) return []
    throw new StelloError('DATABASE_UNREACHABLE', `the schema cannot be brought up to date: ${messageOf(error)}`, {
      hint: 'give the database user the right to create tables, or let one that has it run `stello migrate`',
      cause: error,
    })
  } finally {
    await patient.close()
  }
}

function migratorOf({ pool }: Database): Migrator {
  const migrations = Object.fromEntries(
    Object.entries(MIGRATIONS).map(([name, text]) => [
      name,
      { up: async (on: Kysely<unknown>) => void (await sql.raw(text).execute(on)) },
    ]),
  )
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  return new Migrator({ db, provider: { getMigrations: async () => migrations } })
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

/** @throws StelloError DATABASE_UNREACHABLE when it never will be, since a newer version has changed the schema */
function isUsable({ usable, unknown }: Schema): boolean {
  if (usable || unknown.length === 0) return usable
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    `the schema was changed by a newer version (${unknown.join(', ')}), which this one cannot work on`,
    { hint: 'update stello-temporal' },
  )
}
