/**
 * A real PostgreSQL for the contract tests of the store. It is the server that `STELLO_TEST_DATABASE_URL` names, or
 * else a server that lives as long as the test file, from the npm package that `STELLO_TEST_POSTGRES` names. Each file
 * gets a database of its own, so files never see each other's rows.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { removePostgres } from '../../src/dev/postgres-cluster.ts'
import { postgresUser, startPostgres, stopPostgres } from '../../src/dev/postgres-server.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { asSuperuser } from '../support/superuser.ts'

interface Server {
  url: string
  stop(): Promise<void>
}

async function startServer(): Promise<Server> {
  const [given, packaged] = [process.env['STELLO_TEST_DATABASE_URL'], process.env['STELLO_TEST_POSTGRES']]
  if (given && !packaged) return { url: given, stop: async () => undefined }
  const home = await realpath(await mkdtemp(join(tmpdir(), 'stello-store-')))
  const runAs = await postgresUser()
  const stop = async (): Promise<void> => {
    await stopPostgres(home, runAs)
    await removePostgres(home, runAs)
    await rm(home, { recursive: true, force: true })
  }
  try {
    const { url } = await startPostgres(runAs, { home, onProgress: () => undefined, ...(packaged && { packaged }) })
    return { url: await asSuperuser(home, url), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

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
  let server: Server | undefined
  let db: Database | undefined
  const name = `test_${randomBytes(6).toString('hex')}`

  beforeAll(async () => {
    server = await startServer()
    await execute(server.url, `create database ${name}`)
    const url = new URL(server.url)
    url.pathname = `/${name}`
    db = openDatabase(url.href)
    if (!options.empty) await migrate(db)
  })
  afterAll(async () => {
    await db?.close()
    if (server && db) await execute(server.url, `drop database if exists ${name} with (force)`)
    await server?.stop()
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
