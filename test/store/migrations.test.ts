/** The schema is brought up to date once, whoever starts first; an unknown one is refused. */
import { describe, expect, it } from 'vitest'
import { checkDatabase, openDatabase, run, transaction } from '../../src/store/database.ts'
import { migrate, schemaVersion } from '../../src/store/migrations.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase({ empty: true })

describe('migrate', () => {
  it('may be run by several workers at once, and again, and takes the time it needs', async () => {
    const others = [openDatabase(at.url), openDatabase(at.url), openDatabase(at.url, { answerWithinMs: 1 })]
    expect(await schemaVersion(at.db)).toBeUndefined()
    await Promise.all([at.db, ...others].map(migrate))
    await migrate(at.db)
    expect(await schemaVersion(at.db)).toMatch(/^\d{4}_/)
    const { rows } = await at.db.pool.query(`select 1 from kysely_migration where name = '0001_first'`)
    expect(rows).toHaveLength(1)
    for (const other of others) await other.close()
  })

  it('refuses a schema that a newer version made, and says what to do', async () => {
    await at.db.pool.query(`insert into kysely_migration (name, timestamp) values ('9999_future', now()::text)`)
    await expect(migrate(at.db)).rejects.toMatchObject({ hint: expect.stringContaining('newer version') })
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

  it('makes a statement one to try again', async () => {
    const db = openDatabase('postgresql://user:secret@127.0.0.1:1/nowhere')
    await expect(run(db.pool, { name: 'one', text: 'select 1' }, [])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      fate: 'retry',
    })
    await db.close()
  })

  it('is noticed when it goes away in the middle of a statement, and the next one works', async () => {
    const cut = run(at.db.pool, { name: 'suicide', text: 'select pg_terminate_backend(pg_backend_pid())' }, [])
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await run(at.db.pool, { name: 'one', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }])
  })

  it('between two statements of a transaction fails the next one, not the process', async () => {
    const cut = transaction(at.db, async (tx) => {
      const ended = new Promise<void>((resolve) => tx.once('end', resolve))
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await at.db.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
      await ended
      return run(tx, { name: 'one', text: 'select 1 as one' }, [])
    })
    await expect(cut).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await run(at.db.pool, { name: 'one', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }])
  })
})
