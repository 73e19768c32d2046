/**
 * The bounds of a tree, and the errors for forks that they refuse. The rule itself is SQL, in the trigger that counts
 * forks (`schema.ts`).
 */
import { StelloError } from '../../core/errors.ts'
import type { TreeBounds } from '../../protocol/limits.ts'
import { run, sqlState, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/** A tree and its bounds. A bound that nobody stated is unset until the root is opened. */
export interface BoundedTree {
  /** The session the tree grew from. */
  rootId: string
  /** How many sessions it has, closed ones included. */
  sessions: number
  /** Its bounds. */
  bounds: Partial<TreeBounds>
}

/** The SQLSTATE that the trigger raises. It is of the class of constraints: another try cannot change it. */
const FORK_REFUSED = '23ST1'

interface Refusal {
  beyond: keyof TreeBounds | 'closing'
  value: number
  parentId: string
  rootId: string
}

const READ: Statement = statement(
  'tree_read',
  `select t.root_id as "rootId", t.sessions, t.bounds from trees t join sessions s using (root_id) where s.id = $1`,
)
/** A bound that the tree has already wins over the new one. */
const FIX: Statement = statement('tree_fix', `update trees set bounds = $2 || bounds where root_id = $1`)
const CHANGE: Statement = statement(
  'tree_change',
  `update trees set bounds = bounds || $2 where root_id = (select root_id from sessions where id = $1)`,
)
const FORKING: Statement = statement(
  'tree_forking',
  `select s.root_id as "rootId", t.bounds, case when s.closing_at is not null then 'closing'
           else stello_fork_beyond(s.depth + 1, s.children + 1, t.sessions + 1, t.bounds) end as beyond
         from sessions s left join trees t using (root_id) where s.id = $1`,
)

/** The tree that a session belongs to. */
export async function readTree(db: Database, sessionId: string): Promise<BoundedTree | undefined> {
  const [tree] = await run<BoundedTree>(db.pool, READ, [sessionId])
  return tree
}

/** To be called when the root is opened: each bound that nobody stated is the agent's from now on. */
export async function fixBounds(db: Database, rootId: string, bounds: TreeBounds): Promise<void> {
  await run(db.pool, FIX, [rootId, JSON.stringify(bounds)])
}

/** Changes the stated bounds of the tree that a session belongs to. */
export async function changeBounds(db: Database, sessionId: string, bounds: Partial<TreeBounds>): Promise<void> {
  await run(db.pool, CHANGE, [sessionId, JSON.stringify(bounds)])
}

/**
 * Checks whether a session may fork, before work is done for the fork. The insertion of the child decides in the end.
 *
 * @throws StelloError TREE_LIMIT; SESSION_CLOSED when the session is being closed
 */
export async function mayFork(db: Database, parentId: string): Promise<void> {
  interface Row {
    rootId: string
    bounds: TreeBounds | null
    beyond: Refusal['beyond'] | null
  }
  const [row] = await run<Row>(db.pool, FORKING, [parentId])
  if (!row?.beyond) return
  const value = row.beyond === 'closing' ? 0 : (row.bounds?.[row.beyond] ?? 0)
  throw refused({ beyond: row.beyond, value, parentId, rootId: row.rootId })
}

/** Why the store refused a fork; undefined for any other error. */
export function toForkRefusal(error: unknown): StelloError | undefined {
  if (!(error instanceof Error) || sqlState(error) !== FORK_REFUSED) return undefined
  return refused(JSON.parse((error as { detail?: string }).detail ?? '{}') as Refusal)
}

function refused({ beyond, value, parentId, rootId }: Refusal): StelloError {
  if (beyond === 'closing') {
    return new StelloError('SESSION_CLOSED', `session ${parentId} is being closed: it opens no more sessions`)
  }
  const what = {
    maxDepth: `session ${parentId} is ${value} levels below its root already`,
    maxChildren: `session ${parentId} has opened ${value} sessions already`,
    maxSessions: `the tree of session ${rootId} has ${value} sessions already, closed ones included`,
  }
  const flag = beyond.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)
  const raise = `people raise it with \`stello bounds ${rootId} --${flag} N\``
  return new StelloError('TREE_LIMIT', `no session was opened: ${what[beyond]} (${beyond}: ${value}); ${raise}`)
}
