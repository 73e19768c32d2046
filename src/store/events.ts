/** What watchers read: the durable log, gapless by offset, and what streams right now. */
import { run, type Database, type Statement } from './database.ts'
import { storableJson } from '../agent/clean.ts'

export interface StoredEvent {
  sessionId: string
  offset: number
  at: Date
  type: string
  data: Record<string, unknown>
}

/** A piece of a step that is under way. A higher lease replaces all pieces of a lower one. */
export interface LivePiece {
  sessionId: string
  stepKey: string
  lease: number
  n: number
  type: string
  data: Record<string, unknown>
  /** `n` of the piece of this step that it makes obsolete. */
  replaces?: number
}

const READ: Statement = {
  name: 'events_read',
  text: `select session_id, "offset", at, type, data from events
         where session_id = $1 and "offset" >= $2 and not abandoned order by "offset" limit $3`,
}
const READ_LIVE: Statement = {
  name: 'live_read',
  text: `select session_id, step_key, lease, n, type, data from live l
         where session_id = $1 and lease = (
           select max(lease) from live m where m.session_id = l.session_id and m.step_key = l.step_key)
           and exists (select from steps s where s.session_id = l.session_id and s.step_key = l.step_key and s.outcome is null)
         order by at, step_key, n`,
}
/** A piece that comes together with the one that makes it obsolete only takes away its own. */
const APPEND_LIVE: Statement = {
  name: 'live_append',
  text: `with p as (
           select * from jsonb_to_recordset($1)
             as p("sessionId" text, "stepKey" text, lease int, n int, type text, data jsonb, replaces int)
         ), obsolete as (
           delete from live l using p
           where l.session_id = p."sessionId" and l.step_key = p."stepKey" and l.lease = p.lease and l.n = p.replaces
         )
         insert into live (session_id, step_key, lease, n, type, data)
         select p."sessionId", p."stepKey", p.lease, p.n, p.type, p.data from p
         join steps s on s.session_id = p."sessionId" and s.step_key = p."stepKey" and s.lease = p.lease and s.outcome is null
         where not exists (
           select from p later where later."sessionId" = p."sessionId" and later."stepKey" = p."stepKey"
             and later.lease = p.lease and later.replaces = p.n)
         on conflict do nothing`,
}
const BY_KEY: Statement = {
  name: 'event_by_key',
  text: `select e.session_id, e."offset", e.at, e.type, e.data from sessions s, generate_series(0, s.gen) as known(gen),
           lateral (select * from events where session_id = $1 and gen = known.gen and key = $2 offset 0) e
         where s.id = $1 and not e.abandoned order by e.gen desc limit 1`,
}
const NEXT_OFFSETS: Statement = {
  name: 'events_next',
  text: `select id, next_offset from sessions where id = any($1)`,
}

interface EventRow {
  session_id: string
  offset: number
  at: Date
  type: string
  data: Record<string, unknown>
}

export async function readEvents(db: Database, sessionId: string, from: number, limit = 1000): Promise<StoredEvent[]> {
  return (await run<EventRow>(db.pool, READ, [sessionId, from, limit])).map(toEvent)
}

/** An event that is looked up by its key, such as the rejection of a message. */
export async function readEvent(db: Database, sessionId: string, key: string): Promise<StoredEvent | undefined> {
  const [row] = await run<EventRow>(db.pool, BY_KEY, [sessionId, key])
  return row && toEvent(row)
}

/** The offset that the next event of each session will have. */
export async function nextOffsets(db: Database, sessionIds: string[]): Promise<Map<string, number>> {
  const rows = await run<{ id: string; next_offset: number }>(db.pool, NEXT_OFFSETS, [sessionIds])
  return new Map(rows.map((row) => [row.id, row.next_offset]))
}

export async function readLive(db: Database, sessionId: string): Promise<LivePiece[]> {
  interface Row {
    session_id: string
    step_key: string
    lease: number
    n: number
    type: string
    data: Record<string, unknown>
  }
  const rows = await run<Row>(db.lazyPool, READ_LIVE, [sessionId])
  return rows.map(({ session_id, step_key, ...piece }) => ({ sessionId: session_id, stepKey: step_key, ...piece }))
}

/** Pieces of steps that are settled meanwhile, or taken over, are dropped. */
export async function appendLive(db: Database, pieces: readonly LivePiece[]): Promise<void> {
  await run(db.lazyPool, APPEND_LIVE, [storableJson(pieces)])
}

function toEvent({ session_id, ...event }: EventRow): StoredEvent {
  return { sessionId: session_id, ...event }
}
