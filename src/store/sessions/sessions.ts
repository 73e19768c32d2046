/** Sessions as rows: their parents, their configuration, and their state. */
import { cleanJson, storableJson } from '../../core/clean.ts'
import { StelloError } from '../../core/errors.ts'
import { newEvent } from '../../protocol/events.ts'
import { readOriginTurn, SQL } from '../../protocol/keys.ts'
import type { SessionConfig } from '../../protocol/config.ts'
import type { SessionStatus } from '../../protocol/views.ts'
import type { Pause } from '../../core/pause.ts'
import type { PauseReason } from '../../core/errors.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import { toForkRefusal } from './bounds.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { readHoldups, type InboxItem } from '../watching/inbox.ts'
import { toParameter, writesSql, type NewSessionRow } from '../ledger/writes.ts'

/** A session as it is now. */
export interface SessionSummary {
  /** The session's id. */
  id: string
  /** The session the tree grew from; its own id for a root. */
  rootId: string
  /** The session it was forked from. Unset for a root. */
  parentId?: string
  /**
   * Where it branched off. `turn`: the turn of its parent whose call has opened it. `seq`: the last record that it has
   * inherited. Unset: a client has forked it; it began without a history.
   */
  branch?: { turn?: number; seq?: number }
  /** Levels below the root; 0 for a root. */
  depth: number
  /** The agent that serves it. */
  agent: string
  /** Its name for people. */
  label: string
  /** The fork profile it was created with, or inherited. */
  profile?: string
  /** Its state. */
  state: SessionStatus
  /** Why it is paused. */
  pause?: Pause
  /** The steps a worker has in hand. `title`: the tool's name for people. */
  inHand: { kind: string; name: string; title?: string; since: Date }[]
  /** Its items that wait for a person. */
  pending: PendingItem[]
  /** The provider that its model call waits for, why, since when, and when it is tried again. */
  weather?: { provider: string; why: string; since: Date; nextTry: Date }
  /** The items that hold it up in sessions that it waits for, at any depth: pauses, and questions to a person. */
  heldBy: InboxItem[]
  /** Turns that have ended. */
  turns: number
  /** Records of its own transcript, without the inherited ones. */
  records: number
  /** When it was created. */
  createdAt: Date
  /** When it was closed. */
  closedAt?: Date
}

/**
 * A client's fork becomes an event of its parent here. The fork of a model's call is told by the call's own step. A run
 * that takes the parent over is waited for: the event belongs to the generation after it.
 */
const CREATE: Statement = statement(
  'session_create',
  `
  with created as (
    insert into sessions (id, root_id, parent_id, branch_session, branch_gen, branch_seq, depth, agent, label, profile, config, origin)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    on conflict (id) do update set id = excluded.id where sessions.origin = excluded.origin
    returning id, config
  ),
  tree as (
    insert into trees (root_id, bounds) select id, $14 from created where $3 is null on conflict do nothing
  ),
  guard as (
    select s.gen from sessions s, created where s.id = $3 for key share of s
  ), ${writesSql({ session: '$3', key: 'null', writes: '$13::jsonb', records: 'once' })}
  select config from created`,
)
const CONFIGURE: Statement = statement(
  'session_configure',
  `update sessions set config = $2, profile = $2::jsonb->>'profile', branch_session = $3, branch_gen = $4, branch_seq = $5
         where id = $1 and not config ? 'limits'`,
)

/**
 * @returns the session's configuration; if the same origin has asked before, the configuration of the first time
 * @throws StelloError SESSION_EXISTS when a session of another origin has the id; TREE_LIMIT; SESSION_CLOSED when the
 * parent is being closed
 */
export async function createSession(db: Database, session: NewSessionRow): Promise<SessionConfig> {
  const { sessionId, rootId, parentId, branch, depth, config, origin, bounds = {} } = cleanJson(session)
  const { agent, label, profile } = config
  const data = { child: sessionId, label, awaited: false, ...(profile !== undefined && { profile }) }
  const forked = newEvent('session.forked', { of: [sessionId], at: { apart: true }, data })
  const [row] = await run<{ config: SessionConfig }>(db.pool, CREATE, [
    sessionId,
    rootId,
    parentId ?? null,
    branch?.sessionId ?? null,
    branch?.gen ?? null,
    branch?.seq ?? null,
    depth,
    agent,
    label,
    profile ?? null,
    JSON.stringify(config),
    origin ?? null,
    toParameter({ events: [forked] }),
    JSON.stringify(bounds),
  ]).catch((error: unknown) => {
    throw toForkRefusal(error) ?? error
  })
  if (row) return row.config
  throw new StelloError('SESSION_EXISTS', `session ${sessionId} exists already`, {
    hint: 'leave the id out to get a new one',
  })
}

/** Fixes the configuration that the session keeps for life. The first caller wins. */
export async function configureSession(
  db: Database,
  { sessionId, config, branch }: Pick<NewSessionRow, 'sessionId' | 'config' | 'branch'>,
): Promise<void> {
  const { sessionId: from, gen, seq } = branch ?? { sessionId: null, gen: null, seq: null }
  await run(db.pool, CONFIGURE, [sessionId, storableJson(config), from, gen, seq])
}

/** Which sessions to list. All that is stated must hold. */
export interface SessionFilter {
  /** Only sessions with these ids. */
  ids?: string[]
  /** Only sessions of this tree. */
  rootId?: string
  /** Only sessions of this agent. */
  agent?: string
  /** Only sessions in this state. */
  state?: SessionStatus
  /** Only sessions that are paused for this reason. */
  reason?: PauseReason
  /** The most sessions to list. Default 1,000. */
  limit?: number
}

/**
 * Each session with its state. Turns and records are numbered without a gap, so the last of each tells how many there
 * are, however many that is.
 */
export const SUMMARIES: string = `
  select * from (
    select s.id, s.root_id, s.parent_id, s.branch_seq, s.origin, s.depth, s.agent, s.label, s.profile, s.pause, s.created_at, s.closed_at,
      coalesce(t.turn, case when s.gen > 0 then (
        select max(l.turn) from stello_line(s.id, s.gen) line, lateral (
          select max(turn) as turn from turns where session_id = s.id and gen = line.gen and start_seq <= line.up_to
        ) l) end, 0) - case t.status when 'open' then 1 else 0 end as turns,
      coalesce(case when s.gen = 0
        then (select max(seq) from records where session_id = s.id and gen = 0)
        else (select max(l.seq) from stello_line(s.id, s.gen) line, lateral (
          select max(seq) as seq from records where session_id = s.id and gen = line.gen and seq <= line.up_to
        ) l) end, 0) as records,
      w.in_hand, w.pending, w.weather,
      case when s.closed_at is not null then 'closed'
           when s.pause is not null then 'paused'
           when t.status is distinct from 'open' then 'idle'
           when (w.waiting > 0 or w.weather is not null) and w.due = 0 then 'waiting'
           else 'running' end as state
    from sessions s
    left join lateral (
      select turn, status from turns where session_id = s.id and gen = s.gen order by turn desc limit 1
    ) t on true
    left join lateral (
      select count(*) filter (where waiting) as waiting,
        count(*) filter (where not waiting and (weather is null or owner is not null)) as due,
        (jsonb_agg(weather || jsonb_build_object('since', failing_since, 'nextTry', next_try))
          filter (where weather is not null and owner is null))->0 as weather,
        jsonb_agg(jsonb_build_object('kind', kind, 'name', name, 'since', begun_at, 'title', (
          select e.data #>> array['calls', ${SQL.indexOf('step_key')}, 'title'] from events e
          where e.session_id = s.id and e.gen = s.gen
            and e.key = ${SQL.eventKey('message.completed', SQL.askedBy('step_key'))}
        )))
          filter (where not waiting and owner is not null) as in_hand,
        jsonb_agg(pending order by step_key) filter (where pending is not null) as pending
      from steps where session_id = s.id and gen = s.gen and outcome is null
    ) w on true
  ) summaries`

/**
 * One statement for each combination of conditions that an index serves, because PostgreSQL plans a statement once for
 * all values.
 */
const LISTS: readonly Statement[] = Array.from({ length: 8 }, (_, given) => {
  const [ids, root, agent] = [1, 2, 4].map((bit) => (given & bit) > 0)
  return statement(
    `sessions_list_${given}`,
    `${SUMMARIES}
     where ${ids ? 'id = any($2)' : '$2::text[] is null'} and ${root ? 'root_id = $3' : '$3::text is null'}
       and ${agent ? 'agent = $4' : '$4::text is null'}
       and ($5::text is null or state = $5) and ($6::text is null or pause->>'reason' = $6)
     order by created_at desc, id limit $1`,
  )
})

/**
 * Lists sessions, newest first. A tree is read by its root. The state is computed, so no code has to keep it up to
 * date.
 */
export async function listSessions(
  db: Database,
  { limit = 1000, ids, rootId, agent, state, reason }: SessionFilter = {},
): Promise<SessionSummary[]> {
  const list = LISTS[(ids ? 1 : 0) + (rootId !== undefined ? 2 : 0) + (agent !== undefined ? 4 : 0)] as Statement
  return toSummaries(db, await run<SummaryRow>(db.pool, list, [limit, ids, rootId, agent, state, reason]))
}

/** Completes rows of `SUMMARIES`: adds the items that hold each session up. */
export async function toSummaries(db: Database, rows: readonly SummaryRow[]): Promise<SessionSummary[]> {
  const busy = rows.filter((row) => row.state !== 'idle' && row.state !== 'closed').map(({ id }) => id)
  const holdups = busy.length > 0 ? await readHoldups(db, busy) : new Map<string, InboxItem[]>()
  return rows.map((row) => toSummary(row, holdups.get(row.id) ?? []))
}

/** A row of `SUMMARIES`. */
export interface SummaryRow {
  id: string
  root_id: string
  parent_id: string | null
  branch_seq: number | null
  origin: string | null
  depth: number
  agent: string
  label: string
  profile: string | null
  pause: Pause | null
  created_at: Date
  closed_at: Date | null
  turns: number
  records: number
  in_hand: { kind: string; name: string; title: string | null; since: string }[] | null
  pending: PendingItem[] | null
  weather: { provider: string; why: string; since: string; nextTry: string } | null
  state: SessionStatus
}

function toSummary(row: SummaryRow, holdups: InboxItem[]): SessionSummary {
  return {
    id: row.id,
    rootId: row.root_id,
    depth: row.depth,
    agent: row.agent,
    label: row.label,
    state: row.state,
    inHand: (row.in_hand ?? []).map(({ kind, name, title, since }) => {
      return { kind, name, ...(title !== null && { title }), since: new Date(since) }
    }),
    pending: row.closed_at === null ? (row.pending ?? []) : [],
    heldBy: holdups.filter(({ sessionId }) => sessionId !== row.id),
    turns: row.turns,
    records: row.records,
    createdAt: row.created_at,
    ...(row.parent_id !== null && { parentId: row.parent_id, branch: toBranch(row) }),
    ...(row.profile !== null && { profile: row.profile }),
    ...(row.weather && row.state === 'waiting' && { weather: toWeather(row.weather) }),
    ...(row.pause !== null && { pause: row.pause }),
    ...(row.closed_at !== null && { closedAt: row.closed_at }),
  }
}

function toBranch({ branch_seq: seq, origin }: SummaryRow): NonNullable<SessionSummary['branch']> {
  const turn = readOriginTurn(origin ?? '')
  return { ...(turn !== undefined && { turn }), ...(seq !== null && { seq }) }
}

function toWeather({
  provider,
  why,
  since,
  nextTry,
}: NonNullable<SummaryRow['weather']>): NonNullable<SessionSummary['weather']> {
  return { provider, why, since: new Date(since), nextTry: new Date(nextTry) }
}
