/**
 * Connections to PostgreSQL. Only this file decides whether an error may go away by itself or the content was refused.
 */
import pg from 'pg'
import { StelloError, isUnavailable, messageOf } from '../../core/errors.ts'
import { connectionConfig } from './connection.ts'
import { statement, type Statement } from './statement.ts'
import { troubleOf } from './trouble.ts'

export interface Database {
  readonly url: string
  /** Commits are durable when they return. */
  readonly pool: pg.Pool
  /** The last commits may be lost when the server crashes. For writes that may be repeated. */
  readonly lazyPool: pg.Pool
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Connections of each pool. Default 10. */
  max?: number
  /**
   * After so many milliseconds without an answer, a statement and its connection are given up. Default 30 s, 0: never.
   */
  answerWithinMs?: number
}

/** Longer than any of our statements takes, and longer than a dead client can keep rows locked. */
const ANSWER_WITHIN_MS = 30_000

/** Opens the pools. They connect with the first query. */
export function openDatabase(
  url: string,
  { max = 10, answerWithinMs = ANSWER_WITHIN_MS }: DatabaseOptions = {},
): Database {
  const limits = { max, query_timeout: answerWithinMs }
  const pool = new pg.Pool({ ...connectionConfig(url, 'stello'), ...limits })
  const lazyPool = new pg.Pool({ ...connectionConfig(url, 'stello', ['synchronous_commit=off']), ...limits })
  // If a connection breaks, idle or in the middle of a transaction, its next query fails and it is replaced. Without
  // listeners it would end the process.
  for (const each of [pool, lazyPool]) {
    each.on('error', () => undefined)
    each.on('connect', (client) => void client.on('error', () => undefined))
  }
  return {
    url,
    pool,
    lazyPool,
    async close() {
      await Promise.all([pool.end(), lazyPool.end()])
    },
  }
}

/** Asks whether a server answers at all. */
export const ANSWERS: Statement = statement('answers', 'select 1', { prepared: false })

/** @throws StelloError DATABASE_UNREACHABLE */
export async function checkDatabase(db: Database): Promise<void> {
  try {
    await db.pool.query(ANSWERS.text)
  } catch (error) {
    throw cannotBeUsed(db.url, error)
  }
}

export function cannotBeUsed(
  url: string,
  error: unknown,
  hint = 'start it, or correct STELLO_DATABASE_URL (`stello dev` brings a PostgreSQL of its own)',
): StelloError {
  const message = `PostgreSQL at ${shownUrl(url)} cannot be used: ${messageOf(error)}`
  return new StelloError('DATABASE_UNREACHABLE', message, { hint, cause: error })
}

type Queryable = Pick<pg.Pool, 'query'> | Pick<pg.PoolClient, 'query'>

/** Tries of a statement that finds its events told meanwhile. */
const TELLING_TRIES = 3

/**
 * Outside a transaction, a statement that tells an event at the same moment as another one is run again: then it finds
 * the event told.
 *
 * @throws StelloError STORE_UNAVAILABLE when another try may help
 */
export async function run<Row extends pg.QueryResultRow>(
  on: Queryable,
  { name, text, prepared }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  for (let tries = 1; ; tries++) {
    try {
      const result = await on.query<Row>({ ...(prepared && { name }), text, values: [...values] })
      return result.rows
    } catch (error) {
      if (!isToldMeanwhile(error) || !(on instanceof pg.Pool) || tries === TELLING_TRIES) throw toStoreError(error)
    }
  }
}

export async function transaction<T>(db: Database, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  let tx: pg.PoolClient
  try {
    tx = await db.pool.connect()
  } catch (error) {
    throw toStoreError(error)
  }
  try {
    await tx.query('begin')
    const result = await work(tx)
    await tx.query('commit')
    tx.release()
    return result
  } catch (error) {
    const known = toStoreError(error)
    // A transaction is also rolled back when its connection ends. A connection that does not answer would not answer a
    // rollback either.
    if (isUnavailable(known)) tx.release(known)
    else
      await tx.query('rollback').then(
        () => tx.release(),
        (broken: unknown) => tx.release(toError(broken)),
      )
    throw known
  }
}

/** SQLSTATE classes that refuse the content itself: data, constraints, the limits of PostgreSQL. */
const VERDICTS = ['22', '23', '54']

/**
 * Every other error may go away: when the network is back, or when somebody has repaired the server, granted a right or
 * updated the schema. An error without SQLSTATE came from the network, not from the server.
 */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name === 'StelloError' || error instanceof RangeError) return error
  const code = sqlState(error)
  if (isToldMeanwhile(error)) {
    return new StelloError('STORE_UNAVAILABLE', 'the same event was told meanwhile', { cause: error })
  }
  if (code !== undefined && VERDICTS.includes(code.slice(0, 2))) return error
  const { what, hint } = troubleOf(code)
  return new StelloError('STORE_UNAVAILABLE', `${what}: ${messageOf(error)}`, {
    cause: error,
    ...(hint !== undefined && { hint }),
  })
}

/** The content itself was refused (SQLSTATE classes 22 and 54) or is too long to be sent: repeating it cannot help. */
export function isDataError(error: unknown): boolean {
  if (error instanceof RangeError) return true
  return error instanceof Error && ['22', '54'].includes(sqlState(error)?.slice(0, 2) ?? '')
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && sqlState(error) === '23505'
}

/** Two steps may tell the same event, for example that their session has lost its working folder. */
function isToldMeanwhile(error: unknown): boolean {
  return isUniqueViolation(error) && (error as { constraint?: unknown }).constraint === 'events_session_id_gen_key_key'
}

export function isNullViolation(error: unknown): boolean {
  return error instanceof Error && sqlState(error) === '23502'
}

export function sqlState(error: Error): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}

/** The URL without the password, for people. */
export function shownUrl(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url)
    return `${hostname}:${port || 5432}${pathname}`
  } catch {
    return 'the given URL (not a valid one)'
  }
}
