/**
 * The schema is brought up to date once, whichever worker starts first. A newer schema is refused only if it says so.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkDatabase, openDatabase, run, transaction } from '../../src/store/database/database.ts'
import { checkSchema, migrate, readSchema } from '../../src/store/schema/migrate.ts'
import { statement } from '../../src/store/database/statement.ts'
import { createDatabase, type OtherDatabase } from '../support/databases.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase({ empty: true })

const ONE = statement('test_one', 'select 1 as one')
const CUT = statement('test_cut', 'select pg_terminate_backend(pg_backend_pid())')
const FUTURE = '9999_future'

describe('migrate', () => {
  it('is what a database without a schema needs, and what a worker that may not do it asks for', async () => {
    expect(await readSchema(at.db)).toMatchObject({
      usable: false,
      missing: expect.arrayContaining(['0001_awaits']),
    })
    await expect(checkSchema(at.db)).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      hint: expect.stringContaining('stello migrate'),
    })
  })

  it('may be run by several workers at once, and again, and takes the time it needs', async () => {
    const others = [openDatabase(at.url), openDatabase(at.url), openDatabase(at.url, { answerWithinMs: 1 })]
    const ran = await Promise.all([at.db, ...others].map(migrate))
    expect(ran.flat().filter((name) => name === '0001_awaits')).toHaveLength(1)
    expect(await migrate(at.db)).toEqual([])
    expect(await readSchema(at.db)).toMatchObject({
      usable: true,
      missing: [],
      newest: expect.stringMatching(/^\d{4}_/),
    })
    for (const other of others) await other.close()
  })

  it('writes nothing if the schema is up to date, so a worker then needs no right to create tables', async () => {
    const reading = openDatabase(`${at.url}?options=-c%20default_transaction_read_only=on`)
    expect(await migrate(reading)).toEqual([])
    await checkSchema(reading)
    await reading.close()
  })
})

describe('a schema that a newer version has changed', () => {
  beforeAll(() => at.db.pool.query(`insert into migrations (name) values ($1)`, [FUTURE]))

  it('keeps no worker of this version from starting again, because it takes nothing away from it', async () => {
    expect(await migrate(at.db)).toEqual([])
    await checkSchema(at.db)
    expect(await readSchema(at.db)).toMatchObject({ usable: true, unknown: [FUTURE], newest: FUTURE })
  })

  it('is refused once it says that only newer versions can work with it, and the error says what to do', async () => {
    await at.db.pool.query('update compatibility set oldest = $1', [FUTURE])
    for (const start of [migrate, checkSchema])
      await expect(start(at.db)).rejects.toMatchObject({
        message: expect.stringContaining(FUTURE),
        hint: expect.stringContaining('update stello-temporal'),
      })
  })

  it('is refused if it does not say which versions can work with it', async () => {
    await at.db.pool.query('delete from compatibility')
    await expect(migrate(at.db)).rejects.toMatchObject({ hint: expect.stringContaining('update stello-temporal') })
  })
})

describe('tables that stand in the place of ours', () => {
  let other: OtherDatabase
  beforeAll(async () => void (other = await createDatabase(at.url)))
  afterAll(() => other.drop())

  it.each([
    [
      'a version before the first release',
      'create table sessions (id text); create table kysely_migration (name text)',
    ],
    [
      'a first migration that was rewritten since',
      `create table migrations (name text); insert into migrations values ('0000_first')`,
    ],
  ])('are named, when they are of %s, with what to do', async (_what, tables) => {
    const db = openDatabase(other.url)
    await db.pool.query(tables)
    for (const start of [migrate, checkSchema])
      await expect(start(db)).rejects.toMatchObject({
        code: 'DATABASE_UNREACHABLE',
        message: expect.stringContaining('before its first release'),
        hint: expect.stringContaining('--fresh'),
      })
    expect(await readSchema(db)).toMatchObject({ usable: false, foreign: true })
    await db.close()
  })
})

describe('a database that cannot be reached', () => {
  it('is named without its password', async () => {
    const db = openDatabase('postgresql://user:secret@127.0.0.1:1/nowhere')
    const error = await checkDatabase(db).catch((reason: unknown) => reason as Error)
    expect(error).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1/nowhere'),
    })
    expect(JSON.stringify([error, String(error)])).not.toContain('secret')
    await db.close()
  })

  it('makes a statement fail with an error that is tried again', async () => {
    const db = openDatabase('postgresql://user:secret@127.0.0.1:1/nowhere')
    await expect(run(db.pool, ONE, [])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      fate: 'retry',
    })
    await db.close()
  })

  it('is noticed when it goes away in the middle of a statement, and the next one works', async () => {
    const cut = run(at.db.pool, CUT, [])
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await run(at.db.pool, ONE, [])).toEqual([{ one: 1 }])
  })

  it('between two statements of a transaction fails the next one, not the process', async () => {
    const cut = transaction(at.db, async (tx) => {
      const ended = new Promise<void>((resolve) => tx.once('end', resolve))
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await at.db.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await ended
      return run(tx, ONE, [])
    })
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await run(at.db.pool, ONE, [])).toEqual([{ one: 1 }])
  })
})
