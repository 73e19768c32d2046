/** Reads for watchers: the durable log, whose offsets have no gaps, and the pieces that stream now. */
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { wholeEvent, type Shown } from '../transcript/from-records.ts'
import { storableJson } from '../../core/clean.ts'
import { rejectionKey, type DurableEvent, type LiveEvent } from '../../protocol/events.ts'

export type StoredEvent = DurableEvent & { sessionId: string; offset: number; at: Date }

/** A piece of a step that is under way. Pieces with a higher lease replace all pieces with a lower one. */
export interface LivePiece {
  sessionId: string
  stepKey: string
  lease: number
  n: number
  event: LiveEvent
  /** The `n` of an earlier piece of this step that this piece replaces. */
  replaces?: number
}

/** A piece as it is read. `at` is the time of its write, by the store's clock. */
export type ShownPiece = LivePiece & { at: Date }

/** SQL: the beginning of the record that belongs to event `e`. */
const SHOWN = `(
    select stello_shown(r.message) from records r
    where r.session_id = e.session_id and r.gen = e.gen and r.seq = e.seq)`
/**
 * Reads the events after a place, and the pieces that stream, of any number of sessions with one statement. A session
 * without news gives no row, except the first one and closed ones. If there is more news than a page holds, the last
 * sessions must wait. Each session's counter says how many events it may have, so only one page is read in total.
 */
const LOOK: Statement = statement(
  'look',
  `
  with known as (
    select k.id, k.seen, k.place, s.next_offset, s.closed_at is not null as closed, greatest(s.next_offset - k.seen, 0) as unread
    from unnest($1::text[], $2::int[]) with ordinality as k(id, seen, place) join sessions s on s.id = k.id
  ),
  due as (
    select known.*, sum(unread) over (order by place) - unread as before from known
    where unread > 0 or closed or place = 1
  )
  select d.place, d.id as session_id, d.next_offset, d.closed, e."offset", e.at, e.type, e.turn, e.round, e.seq, e.data,
    ${SHOWN} as shown, null as step_key, null::int as lease, null::int as n
  from due d left join lateral (
    select * from events where session_id = d.id and "offset" >= d.seen and not abandoned order by "offset" limit $3
  ) e on d.unread > 0
  where d.before < $3
  union all
  select k.place, k.id, k.next_offset, k.closed, null, l.at, l.type, null, null, null, l.data, null, l.step_key, l.lease, l.n
  from known k join live l on l.session_id = k.id
  where $4 and l.lease = (
      select max(lease) from live m where m.session_id = l.session_id and m.step_key = l.step_key)
    and exists (select from steps s where s.session_id = l.session_id and s.step_key = l.step_key and s.outcome is null)
  order by place, "offset", at, step_key, n`,
)
/**
 * If a piece comes together with the one that replaces it, it is not written. It still removes the piece that it
 * replaces itself.
 */
const APPEND_LIVE: Statement = statement(
  'live_append',
  `with p as (
           select * from jsonb_to_recordset($1)
             as p("sessionId" text, "stepKey" text, lease int, n int, event jsonb, replaces int)
         ), obsolete as (
           delete from live l using p
           where l.session_id = p."sessionId" and l.step_key = p."stepKey" and l.lease = p.lease and l.n = p.replaces
         )
         insert into live (session_id, step_key, lease, n, type, data)
         select p."sessionId", p."stepKey", p.lease, p.n, p.event->>'type', p.event->'data' from p
         join steps s on s.session_id = p."sessionId" and s.step_key = p."stepKey" and s.lease = p.lease and s.outcome is null
         where not exists (
           select from p later where later."sessionId" = p."sessionId" and later."stepKey" = p."stepKey"
             and later.lease = p.lease and later.replaces = p.n)
         on conflict do nothing`,
)
const REJECTED: Statement = statement(
  'event_rejected',
  `select e.data->>'reason' as reason from sessions s, generate_series(0, s.gen) as known(gen),
           lateral (select * from events where session_id = $1 and gen = known.gen and key = $2 offset 0) e
         where s.id = $1 and not e.abandoned order by e.gen desc limit 1`,
)
const NEXT_OFFSETS: Statement = statement('events_next', `select id, next_offset from sessions where id = any($1)`)

/** The news of a session. */
export interface SessionNews {
  sessionId: string
  events: StoredEvent[]
  pieces: ShownPiece[]
  /** The offset after the last event that was read. */
  next: number
  /** The session is closed and was read to its end. Nothing follows, unless it is rewound. */
  ended: boolean
}

export interface Look {
  /** The sessions that have news or have ended, and the first one that was asked for, if it exists. */
  sessions: SessionNews[]
  /** Not everything was read: look at the same sessions again. */
  more: boolean
}

const PAGE = 1000

/**
 * Looks at sessions once, with one statement.
 *
 * @param places the first offset that was not seen yet, for each session
 * @example await lookAt(db, new Map([['s-1', 0]])) // { sessions: [{ sessionId: 's-1', events: […], … }], more: false }
 */
export async function lookAt(
  db: Database,
  places: ReadonlyMap<string, number>,
  { live = true, page = PAGE }: { live?: boolean; page?: number } = {},
): Promise<Look> {
  interface Row extends Pick<LivePiece, 'lease' | 'n'> {
    session_id: string
    next_offset: number
    closed: boolean
    offset: number | null
    at: Date
    type: string
    turn: number | null
    round: number | null
    seq: number | null
    data: object
    shown: Shown | null
    step_key: string | null
  }
  if (places.size === 0) return { sessions: [], more: false }
  const rows = await run<Row>(db.pool, LOOK, [[...places.keys()], [...places.values()], page, live])
  const found = new Map<string, SessionNews>()
  for (const { session_id: sessionId, offset, step_key: stepKey, ...row } of rows) {
    const seen = places.get(sessionId) ?? 0
    const news = found.get(sessionId) ?? { sessionId, events: [], pieces: [], next: seen, ended: false }
    found.set(sessionId, news)
    const { at, type, data, lease, n } = row
    if (stepKey !== null) {
      news.pieces.push({ sessionId, stepKey, lease, n, at, event: { type, data } as LiveEvent })
      continue
    }
    if (offset !== null)
      news.events.push({ sessionId, offset, at, type, data: wholeEvent(row, row.shown) } as StoredEvent)
    const all = news.events.length < page
    news.next = all ? Math.max(seen, row.next_offset) : (offset ?? seen) + 1
    news.ended = all && row.closed
  }
  const sessions = [...found.values()]
  const passed = sessions.reduce((sum, { sessionId, next }) => sum + next - (places.get(sessionId) ?? 0), 0)
  return { sessions, more: passed >= page }
}

/** Why a message was refused; undefined if it was not. */
export async function readRejection(db: Database, sessionId: string, messageId: string): Promise<string | undefined> {
  const [row] = await run<{ reason: string }>(db.pool, REJECTED, [sessionId, rejectionKey(messageId)])
  return row?.reason
}

/** The offset that the next event of each session will have. */
export async function nextOffsets(db: Database, sessionIds: string[]): Promise<Map<string, number>> {
  const rows = await run<{ id: string; next_offset: number }>(db.pool, NEXT_OFFSETS, [sessionIds])
  return new Map(rows.map((row) => [row.id, row.next_offset]))
}

/** Writes pieces. Drops the pieces of steps that were settled or taken over meanwhile. */
export async function appendLive(db: Database, pieces: readonly LivePiece[]): Promise<void> {
  await run(db.lazyPool, APPEND_LIVE, [storableJson(pieces)])
}
