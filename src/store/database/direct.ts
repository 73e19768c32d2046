/**
 * Proves that a connection to PostgreSQL stays the same one: everything that a worker holds there, above all its lock,
 * depends on it.
 */
import pg from 'pg'
import { StelloError } from '../../core/errors.ts'
import { connectionConfig } from './connection.ts'
import { cannotBeUsed, shownUrl, sqlState } from './database.ts'
import { statement, type Statement } from './statement.ts'

/** Each round finds a pooler that shares connections out, whether others use it meanwhile or nobody does. */
const ROUNDS = 5
const ANSWER_WITHIN_MS = 10_000
/** The SQLSTATE with which PgBouncer refuses settings that it does not pass on. */
const PROTOCOL_VIOLATION = '08P01'

const BACKEND: Statement = statement('backend', 'select pg_backend_pid() as pid', { prepared: false })

/** What to do about such a pooler, for people. */
export const REMEDY =
  'give a worker the address of PostgreSQL itself, or of a pooler in session mode (PgBouncer: pool_mode = session, ignore_startup_parameters = options)'

/**
 * Proves that no pooler in transaction mode stands before PostgreSQL. The lock of a worker would belong to a connection
 * of that pooler, and would survive the death of the worker.
 *
 * @throws StelloError DATABASE_UNREACHABLE: behind such a pooler, or when PostgreSQL cannot be used
 */
export async function proveDirect(url: string): Promise<void> {
  const clients = [1, 2].map(() => {
    const client = new pg.Client({ ...connectionConfig(url, 'stello-probe'), query_timeout: ANSWER_WITHIN_MS })
    return client.on('error', () => undefined)
  }) as [pg.Client, pg.Client]
  try {
    if (await keepsItsOwn(...clients)) return
  } catch (error) {
    const pooled = error instanceof Error && sqlState(error) === PROTOCOL_VIOLATION
    throw pooled ? cannotBeUsed(url, error, `this is a pooler: ${REMEDY}`) : cannotBeUsed(url, error)
  } finally {
    for (const client of clients) void client.end().catch(() => undefined)
  }
  throw new StelloError(
    'DATABASE_UNREACHABLE',
    `PostgreSQL at ${shownUrl(url)} is behind a pooler in transaction mode: the lock that says a worker lives would outlive it`,
    { hint: REMEDY },
  )
}

async function keepsItsOwn(one: pg.Client, other: pg.Client): Promise<boolean> {
  await one.connect()
  const own = await backendOf(one)
  // If the numbers are equal, nothing stands in between: PostgreSQL sent this number on connect, and a pooler would
  // have sent a number of its own.
  if (own === (one as { processID?: number }).processID) return true
  await other.connect()
  for (let round = 0; round < ROUNDS; round++) {
    await other.query('begin')
    const its = await backendOf(other)
    // This connection got a backend that `one` does not use at the moment. A question to `one` now might wait for it.
    if (its === own) return false
    if ((await backendOf(one)) !== own) return false
    await other.query('commit')
  }
  return true
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>(BACKEND.text)
  return rows[0]?.pid
}
