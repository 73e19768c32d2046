/**
 * A database for the contract tests of the store, on the server of their project (`server.ts`). Each file gets one of
 * its own, so files never see each other's rows.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/schema/migrate.ts'

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

export interface TestDatabase {
  readonly db: Database
  readonly url: string
}

/** One database for the tests of this file, migrated unless `empty`. Its properties may be read only inside tests. */
export function useDatabase(options: { empty?: boolean } = {}): TestDatabase {
  let db: Database | undefined
  const name = `test_${randomBytes(6).toString('hex')}`

  beforeAll(async () => {
    const url = new URL(inject('storeServerUrl'))
    await execute(url.href, `create database ${name}`)
    url.pathname = `/${name}`
    db = openDatabase(url.href)
    if (!options.empty) await migrate(db)
  })
  afterAll(async () => {
    await db?.close()
    if (db) await execute(inject('storeServerUrl'), `drop database if exists ${name} with (force)`)
  })
  const opened = (): Database => {
    if (!db) throw new Error('the test database is open only inside tests')
    return db
  }
  return {
    get db() {
      return opened()
    },
    get url() {
      return opened().url
    },
  }
}

/** How many statements `work` sends to PostgreSQL, over any connection. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  return (await askedBy(work)).length
}

/** The connections over which `work` sends statements: one for each statement. */
export async function askedBy(work: () => Promise<unknown>): Promise<pg.Client[]> {
  return (await sentBy(work)).map(({ over }) => over)
}

export interface Sent {
  over: pg.Client
  name: string | undefined
  values: readonly unknown[]
}

/** The statements that are sent to PostgreSQL until `work` is done. `work` may look at those that were sent so far. */
export async function sentBy(work: (sent: readonly Sent[]) => Promise<unknown>): Promise<Sent[]> {
  const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const { query } = prototype
  const sent: Sent[] = []
  prototype.query = function heard(this: pg.Client, ...args: unknown[]) {
    const { name, values = [] } = args[0] as pg.QueryConfig
    sent.push({ over: this, name, values })
    return query.apply(this, args)
  }
  try {
    await work(sent)
  } finally {
    prototype.query = query
  }
  return sent
}
