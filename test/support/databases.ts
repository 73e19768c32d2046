/** Copies, restores and swaps databases, as with a backup. Their users see an outage meanwhile. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface Backup {
  /** Puts the copy in the place of the database. */
  restore(): Promise<void>
}

/** @param url the URL of the database. Its server must have a database `postgres` */
export async function backUp(url: string): Promise<Backup> {
  const name = new URL(url).pathname.slice(1)
  const copy = `${name}_copy`
  await whileClosed(url, name, [
    `create database ${copy} template ${name}`,
    // `create database … template` copies the tables, but not the owner and the rights.
    `update pg_database set (datdba, datacl) = (select datdba, datacl from pg_database where datname = '${name}')
     where datname = '${copy}'`,
  ])
  return {
    restore: () => whileClosed(url, name, [`drop database ${name}`, `alter database ${copy} rename to ${name}`]),
  }
}

async function whileClosed(url: string, name: string, statements: string[]): Promise<void> {
  await onServer(url, [
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
    ...statements,
    `alter database ${name} allow_connections true`,
  ])
}

export interface OtherDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Makes another database, empty, on the same server. */
export async function createDatabase(url: string): Promise<OtherDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await onServer(url, [`create database ${name}`])
  const other = new URL(url)
  other.pathname = `/${name}`
  return { url: other.href, drop: () => onServer(url, [`drop database if exists ${name} with (force)`]) }
}

/**
 * Swaps the names of two databases: from now on, each URL leads to the other database.
 *
 * @param meanwhile runs when all connections are cut and none can be made
 */
export async function swapDatabases(
  first: string,
  second: string,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<void> {
  const [one, other] = [first, second].map((url) => new URL(url).pathname.slice(1))
  const away = `${one}_away`
  await onServer(first, [
    ...[one, other].map((name) => `alter database ${name} allow_connections false`),
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname in ('${one}', '${other}')`,
  ])
  await meanwhile()
  await onServer(first, [
    `alter database ${one} rename to ${away}`,
    `alter database ${other} rename to ${one}`,
    `alter database ${away} rename to ${other}`,
    ...[one, other].map((name) => `alter database ${name} allow_connections true`),
  ])
}

async function onServer(url: string, statements: string[]): Promise<void> {
  const server = new URL(url)
  server.pathname = '/postgres'
  const admin = new pg.Client({ connectionString: server.href })
  await admin.connect()
  try {
    for (const statement of statements) await admin.query(statement)
  } finally {
    await admin.end()
  }
}
