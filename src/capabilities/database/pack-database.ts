/**
 * A PostgreSQL for a pack: connections that open with the first question, and tables of the pack's own. The packs keep
 * nothing in the tables of the store.
 */
import pg from 'pg'
import { StelloError, messageOf } from '../../core/errors.ts'
import { keepSecret } from '../../core/secrets.ts'

export interface PackDatabaseOptions {
  /** Names the pack in errors. */
  pack: string
  /** `postgresql://…`. Unset: the environment variable `STELLO_DATABASE_URL`. */
  connectionString?: string
  /** Makes the pack's schema and tables where they are missing. It may run any number of times. */
  tables: string
  /** How long a statement may take, milliseconds. Default 30,000. */
  answerWithinMs?: number
}

type Row = Record<string, unknown>
/** Sends one statement, and returns its rows. */
export type Ask = <Result = Row>(text: string, values?: readonly unknown[]) => Promise<Result[]>

/** Any number that nobody else locks: tables are made by one worker at a time. */
const LOCK = 731_406_141
const CONNECTIONS = 4
const CONNECT_WITHIN_MS = 10_000
const ANSWER_WITHIN_MS = 30_000

export class PackDatabase {
  readonly #options: PackDatabaseOptions
  #opened: { pool: pg.Pool; ready: Promise<void> } | undefined

  constructor(options: PackDatabaseOptions) {
    this.#options = options
  }

  /** @throws StelloError DATABASE_UNREACHABLE where the server does not answer, or does not let tables be made */
  async open(): Promise<void> {
    await this.#pool()
  }

  /** A later question opens it again. */
  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.pool.end()
  }

  async ask<Result = Row>(text: string, values: readonly unknown[] = []): Promise<Result[]> {
    return asking(await this.#pool())<Result>(text, values)
  }

  /** All that `work` asks takes effect, or nothing. */
  async transaction<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    return inTransaction(await this.#pool(), work)
  }

  async #pool(): Promise<pg.Pool> {
    const opened = (this.#opened ??= this.#connect())
    try {
      await opened.ready
      return opened.pool
    } catch (error) {
      if (this.#opened === opened) await this.close()
      throw error
    }
  }

  #connect(): { pool: pg.Pool; ready: Promise<void> } {
    const { pack, tables, answerWithinMs = ANSWER_WITHIN_MS } = this.#options
    const { connectionString = process.env['STELLO_DATABASE_URL'] } = this.#options
    if (!connectionString) {
      throw new StelloError('INVALID_ARGUMENT', `${pack}: there is no database`, {
        hint: 'give connectionString, or set STELLO_DATABASE_URL',
      })
    }
    keepSecret(connectionString, passwordOf(connectionString))
    const pool = new pg.Pool({
      connectionString,
      application_name: `stello ${pack}`,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: answerWithinMs,
      keepAlive: true,
      allowExitOnIdle: true,
    })
    // A connection that breaks is replaced. Without a listener it would end the process.
    pool.on('error', () => undefined)
    pool.on('connect', (client) => void client.on('error', () => undefined))
    const ready = inTransaction(pool, async (ask) => {
      await ask(`select pg_advisory_xact_lock(${LOCK})`)
      await ask(tables)
    }).catch((error: unknown) => {
      throw new StelloError('DATABASE_UNREACHABLE', `${pack}: the database cannot be used: ${messageOf(error)}`, {
        hint: 'start it, correct the connectionString, or give its user the right to create a schema',
        cause: error,
      })
    })
    return { pool, ready }
  }
}

async function inTransaction<Result>(pool: pg.Pool, work: (ask: Ask) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(asking(client))
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // The end of a connection rolls back too, and a connection that does not answer would not answer a rollback.
    client.release(true)
    throw error
  }
}

function asking(on: pg.Pool | pg.PoolClient): Ask {
  return async <Result>(text: string, values: readonly unknown[] = []) => {
    const { rows } = await on.query<Result & pg.QueryResultRow>(text, [...values])
    return rows
  }
}

function passwordOf(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(url).password)
  } catch {
    return undefined
  }
}
