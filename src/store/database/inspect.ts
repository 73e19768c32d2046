/** The questions of `stello doctor` to a store. They only read. */
import pg from 'pg'
import { connectionConfig } from './connection.ts'
import { run, type Database } from './database.ts'
import { statement, type Statement } from './statement.ts'

export interface ServerFacts {
  version: string
  /** How many more connections this user may open. */
  free: number
  /** Tables of the store that the user may not read or write. */
  forbidden: string[]
}

/** Some connections are reserved for superusers. A limit of -1 means no limit. */
const FACTS: Statement = statement(
  'server_facts',
  `
  select current_setting('server_version') as version,
    least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - (select count(*) from pg_stat_activity where backend_type = 'client backend'),
      (select case when rolconnlimit < 0 then null else rolconnlimit
         - (select count(*) from pg_stat_activity where usename = current_user) end from pg_roles where rolname = current_user),
      (select case when datconnlimit < 0 then null else datconnlimit
         - (select count(*) from pg_stat_activity where datname = current_database()) end
         from pg_database where datname = current_database())
    )::int as free,
    (select coalesce(array_agg(c.relname::text order by c.relname), '{}') from pg_class c
     where c.relkind = 'r' and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('migrations'))
       and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
         and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))) as forbidden`,
  { prepared: false },
)

/** Uses a connection of its own. @throws the driver's error */
export async function readServer(url: string): Promise<ServerFacts> {
  const client = new pg.Client({ ...connectionConfig(url, 'stello-doctor'), query_timeout: 10_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<ServerFacts>(FACTS.text)
    return rows[0] as ServerFacts
  } finally {
    void client.end().catch(() => undefined)
  }
}

const AGENTS: Statement = statement(
  'agents_busy',
  `select agent, count(*)::int as sessions from sessions
         where closed_at is null and coalesce(namespace, $1) = $1 group by agent order by agent`,
)
const OPEN: Statement = statement(
  'sessions_open',
  `select id from sessions where closed_at is null and coalesce(namespace, $1) = $1 order by created_at limit $2`,
)
const CLOSED: Statement = statement(
  'sessions_closed',
  `select id from sessions where id = any($1) and closed_at is not null`,
)

/** Agents that have open sessions in a namespace of Temporal, and how many. */
export function readBusyAgents(db: Database, namespace: string): Promise<{ agent: string; sessions: number }[]> {
  return run(db.pool, AGENTS, [namespace])
}

/** Ids of open sessions, oldest first. */
export async function readOpenIds(db: Database, namespace: string, limit: number): Promise<string[]> {
  return (await run<{ id: string }>(db.pool, OPEN, [namespace, limit])).map(({ id }) => id)
}

/** The closed ones among the given sessions. */
export async function readClosed(db: Database, ids: readonly string[]): Promise<string[]> {
  return (await run<{ id: string }>(db.pool, CLOSED, [ids])).map(({ id }) => id)
}
