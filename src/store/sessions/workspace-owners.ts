/**
 * Keeps which host has which working folder. A folder has one owner at a time; each change of the owner is another generation.
 * A host is alive while one of its workers is.
 */
import { run, type Database } from '../database/database.ts'
import { DEAD, GRACE_MS } from '../ledger/liveness.ts'
import { statement, type Statement } from '../database/statement.ts'

export interface WorkspaceRow {
  /** Begins with 1. */
  generation: number
  /** Unset: its host is lost, and no other one has it yet. */
  host?: string
}

/** The tree or session that needs a working folder. Its id is the id of the folder. */
export interface WorkspaceNeed {
  id: string
  rootId: string
  agent: string
  /** The host that asks. It is taken if it has room. */
  host: string
  namespace: string
}

/** A host with working folders, or with workers that would take some. */
export interface KnownHost {
  host: string
  alive: boolean
  /** Its folders of open sessions. */
  workspaces: number
  /** How many it takes at most. Unset: as many as there are. */
  capacity?: number
}

const READ: Statement = statement('workspace_read', 'select generation, host from workspaces where id = $1')
/** A row that has lost its host keeps its generation, which was raised by the loss. */
const ACQUIRE: Statement = statement(
  'workspace_acquire',
  `insert into workspaces (id, root_id, agent, host) values ($1, $2, $3, $4)
         on conflict (id) do update set host = excluded.host, since = now() where workspaces.host is null`,
)
const LOSE: Statement = statement(
  'workspace_lose',
  `update workspaces set host = null, generation = generation + 1, since = now()
         where id = $1 and generation = $2 and host = $3 returning id`,
)
const HOST: Statement = statement('worker_host', 'update workers set host = $2, capacity = $3 where boot_id = $1')
/** The folders of closed trees and sessions take no room. */
const HOSTS: Statement = statement(
  'workspace_hosts',
  `
  with serving as (
    select host, max(capacity) as capacity, bool_or(not ${DEAD}) as alive
    from (select boot_id as owner, * from workers where host is not null and namespace = $2 and agent = coalesce($3, agent)) as known
    group by host
  ), owned as (
    select w.host, count(*)::int as workspaces from workspaces w join sessions s on s.id = w.id
    where w.host is not null and s.closed_at is null and w.agent = coalesce($3, w.agent)
    group by w.host
  )
  select host, coalesce(alive, false) as alive, capacity, coalesce(workspaces, 0) as workspaces
  from serving full join owned using (host) order by workspaces, host`,
)

export async function readWorkspace(db: Database, id: string): Promise<WorkspaceRow | undefined> {
  const [row] = await run<{ generation: number; host: string | null }>(db.pool, READ, [id])
  return row && { generation: row.generation, ...(row.host !== null && { host: row.host }) }
}

/**
 * Gives a folder that has no owner to a host: to the one that asks, or, if that is full, to the living one with the
 * fewest folders. The number of folders is not exact while several are given at once.
 *
 * @returns undefined when every host is full
 */
export async function acquireWorkspace(db: Database, need: WorkspaceNeed): Promise<Required<WorkspaceRow> | undefined> {
  const { id, rootId, agent, host, namespace } = need
  const hosts = await readHosts(db, { namespace, agent })
  const hasRoom = ({ workspaces, capacity = Infinity }: KnownHost): boolean => workspaces < capacity
  const own = hosts.find((one) => one.host === host)
  const taker = !own || hasRoom(own) ? host : hosts.find((one) => one.alive && hasRoom(one))?.host
  if (taker === undefined) return undefined
  await run(db.pool, ACQUIRE, [id, rootId, agent, taker])
  const row = await readWorkspace(db, id)
  return row?.host === undefined ? undefined : { generation: row.generation, host: row.host }
}

/** Takes a folder from its host. @returns false when it has no longer that host or generation */
export async function loseWorkspace(
  db: Database,
  id: string,
  { generation, host }: Required<WorkspaceRow>,
): Promise<boolean> {
  return (await run(db.pool, LOSE, [id, generation, host])).length > 0
}

/** Says on which host a worker is. To be called after `enterWorker`. @param capacity null: no limit */
export async function enterHost(
  db: Database,
  bootId: string,
  { host, capacity }: { host: string; capacity: number | null },
): Promise<void> {
  await run(db.pool, HOST, [bootId, host, capacity])
}

/** The hosts of an agent, or of all agents, those with the fewest folders first. */
export async function readHosts(
  db: Database,
  { namespace, agent }: { namespace: string; agent?: string },
): Promise<KnownHost[]> {
  const values = [GRACE_MS, namespace, agent ?? null]
  const rows = await run<Omit<KnownHost, 'capacity'> & { capacity: number | null }>(db.pool, HOSTS, values)
  return rows.map(({ capacity, ...row }) => ({ ...row, ...(capacity !== null && { capacity }) }))
}
