/** One session: how it was created, and its state now. */
import type { Branch, SessionConfig } from '../../protocol/config.ts'
import type { Pause } from '../../core/pause.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

export interface SessionRow {
  id: string
  rootId: string
  parentId?: string
  branch?: Branch
  depth: number
  config: SessionConfig
  gen: number
  /** Its namespace in Temporal. Unset until its workflow has opened it. */
  namespace?: string
  /** A run of its workflow has opened it. */
  opened: boolean
  pause?: Pause
  createdAt: Date
  closedAt?: Date
  /** It must close with its forks, but has not closed yet. */
  closing?: true
}

interface Row {
  id: string
  root_id: string
  parent_id: string | null
  branch_session: string | null
  branch_gen: number | null
  branch_seq: number | null
  depth: number
  config: SessionConfig
  gen: number
  run_id: string | null
  namespace: string | null
  pause: Pause | null
  created_at: Date
  closed_at: Date | null
  closing: boolean
}

const READ_SESSION: Statement = statement(
  'session_read',
  `select id, root_id, parent_id, branch_session, branch_gen, branch_seq, depth, config, gen, run_id, namespace, pause,
           created_at, closed_at, closing_at is not null and closed_at is null as closing
         from sessions where id = $1`,
)

/** A statement of its own, because each sent message asks this, and a configuration can be long. */
const IS_CLOSED: Statement = statement(
  'session_is_closed',
  'select closed_at is not null as closed from sessions where id = $1',
)

const FIND_CHILD: Statement = statement(
  'session_find_child',
  'select id from sessions where parent_id = $1 and origin = $2',
)

/** The child that this origin has opened; undefined: none yet. */
export async function findChild(db: Database, parentId: string, origin: string): Promise<string | undefined> {
  const [row] = await run<{ id: string }>(db.pool, FIND_CHILD, [parentId, origin])
  return row?.id
}

export async function readSession(db: Database, sessionId: string): Promise<SessionRow | undefined> {
  const [row] = await run<Row>(db.pool, READ_SESSION, [sessionId])
  return (
    row && {
      id: row.id,
      rootId: row.root_id,
      depth: row.depth,
      config: row.config,
      gen: row.gen,
      opened: row.run_id !== null,
      createdAt: row.created_at,
      ...(row.parent_id !== null && { parentId: row.parent_id }),
      ...(row.namespace !== null && { namespace: row.namespace }),
      ...(row.pause !== null && { pause: row.pause }),
      ...(row.closed_at !== null && { closedAt: row.closed_at }),
      ...(row.closing && { closing: true }),
      ...(row.branch_session !== null && {
        branch: { sessionId: row.branch_session, gen: row.branch_gen ?? 0, seq: row.branch_seq ?? 0 },
      }),
    }
  )
}

/** @returns undefined: there is no such session */
export async function isClosed(db: Database, sessionId: string): Promise<boolean | undefined> {
  const [row] = await run<{ closed: boolean }>(db.pool, IS_CLOSED, [sessionId])
  return row?.closed
}
