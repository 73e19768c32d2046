/** The role that a development server gives to workers and clients: it owns the store's database, and nothing else. */
import pg from 'pg'

export const ROLE = 'stello'
export const DATABASE = 'stello'

/** Objects that a superuser created before the role existed. Sequences follow their tables. */
const HAND_OVER = `
  do $$ declare handed record; begin
    for handed in
      select format('alter %s %s owner to ${ROLE}',
        case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
        oid::regclass) as statement
      from pg_class c
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S', 'v', 'm') and relowner <> '${ROLE}'::regrole
        and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i'))
      union all
      select format('alter routine %s owner to ${ROLE}', oid::regprocedure)
      from pg_proc where pronamespace = 'public'::regnamespace and proowner <> '${ROLE}'::regrole
    loop execute handed.statement; end loop;
  end $$`

/**
 * Makes sure that the role and its database exist, and that the password is the given one.
 *
 * @param superuser a URL for the superuser, of any database
 * @param password of letters, digits, `-` and `_`
 */
export async function prepareStore(superuser: string, password: string): Promise<void> {
  const [server] = await query(superuser, `select pg_is_in_recovery() as "readOnly"`)
  // A replica has the objects of its primary.
  if (server?.['readOnly'] === true) return
  const [role] = await query(superuser, `select from pg_roles where rolname = '${ROLE}'`)
  await query(superuser, `${role ? 'alter' : 'create'} role ${ROLE} login nosuperuser password '${password}'`)
  const [database] = await query(
    superuser,
    `select datdba = '${ROLE}'::regrole as owned from pg_database where datname = '${DATABASE}'`,
  )
  if (!database) await query(superuser, `create database ${DATABASE} owner ${ROLE}`)
  if (database?.['owned'] !== false) return
  await query(withDatabase(superuser, DATABASE), HAND_OVER)
  await query(superuser, `alter database ${DATABASE} owner to ${ROLE}`)
}

function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href
}

/** Uses its own connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000, query_timeout: 10_000 })
  // A server that goes away while we are connected must not end our process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
