/** A database taken away, copied and put back, as from a backup. Whoever uses it sees an outage meanwhile. */
import pg from 'pg'

export interface Backup {
  /** Puts the copy in the place of the database. */
  restore(): Promise<void>
}

/** @param url of the database; its server must have a database `postgres` */
export async function backUp(url: string): Promise<Backup> {
  const name = new URL(url).pathname.slice(1)
  const copy = `${name}_copy`
  await whileClosed(url, name, [`create database ${copy} template ${name}`])
  return {
    restore: () => whileClosed(url, name, [`drop database ${name}`, `alter database ${copy} rename to ${name}`]),
  }
}

async function whileClosed(url: string, name: string, statements: string[]): Promise<void> {
  const server = new URL(url)
  server.pathname = '/postgres'
  const admin = new pg.Client({ connectionString: server.href })
  await admin.connect()
  try {
    await admin.query(`alter database ${name} allow_connections false`)
    await admin.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [name])
    for (const statement of statements) await admin.query(statement)
    await admin.query(`alter database ${name} allow_connections true`)
  } finally {
    await admin.end()
  }
}
