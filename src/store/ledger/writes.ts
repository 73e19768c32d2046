/**
 * Everything that is committed together with a step: records, events, usage, turns, a child. It is one JSON parameter
 * and one set of CTEs. So claim, settle and announce are a single statement each, and one guard decides about all
 * writes.
 */
import { storableJson } from '../../core/clean.ts'
import { answerOf, keepEvent } from '../transcript/from-records.ts'
import type { TreeBounds } from '../../protocol/limits.ts'
import type { Message, Usage } from '../../core/message.ts'
import type { Branch, SessionConfig } from '../../protocol/config.ts'
import type { NewEvent } from '../../protocol/events.ts'
import type { Pause } from '../../core/pause.ts'
import type { MessageBody } from '../transcript/message-bodies.ts'
import type { NewSummary } from '../transcript/summaries.ts'
import type { StopReason } from '../../protocol/steps.ts'
import type { NewValue } from '../transcript/values.ts'

export interface NewRecord {
  seq: number
  message: Message
  chain: string
  /** The whole text, if the message has a cut one. */
  whole?: string
  /** Only for an answer: how many tokens its provider counted for one of our estimate. */
  density?: number
}

/** A turn that opens (with `messageId`), ends (with `stopReason`), or both. */
export interface TurnWrite {
  turn: number
  messageId?: string
  startSeq?: number
  stopReason?: StopReason
  text?: string
  rounds?: number
  /** The last record of a turn whose records models no longer read. */
  leftOut?: number
}

export interface NewSessionRow {
  sessionId: string
  rootId: string
  parentId?: string
  depth: number
  config: SessionConfig
  branch?: Branch
  /** The step or client that asked for it. The same origin may ask again. */
  origin?: string
  /** For a root: the stated bounds of its tree. The agent's bounds complete them. */
  bounds?: Partial<TreeBounds>
}

export interface NewChild extends NewSessionRow {
  records: NewRecord[]
  message?: MessageBody
}

export interface Writes {
  records?: NewRecord[]
  events?: NewEvent[]
  usage?: Usage & { rootId: string; model: string }
  turns?: TurnWrite[]
  child?: NewChild
  /** A call that waits. It is shown as waiting until it is settled. */
  waiting?: { key: string; name: string }
  /**
   * `null` clears the pause, so later forks do not begin paused. `pause` and `closed` are written once, together with
   * the event that tells them.
   */
  pause?: Pause | null
  /** Beside `pause: null`: later forks still begin paused, if a pause of the tree says so. */
  treeStaysPaused?: true
  closed?: true
  /** The session must close, together with its forks. `unopened`: if it was never opened. */
  closing?: true | 'unopened'
  message?: MessageBody
  /** Written by a settle only (`settle.ts`). */
  summary?: NewSummary
  /** The values that the call of the first record has set. Written by a settle only. */
  values?: NewValue[]
}

/**
 * Makes the JSON parameter. Replaces NUL and lone surrogates, which PostgreSQL refuses. Leaves out texts that a record
 * holds.
 */
export function toParameter({ events, turns, ...writes }: Writes): string {
  const { records = [] } = writes
  return storableJson({
    ...writes,
    ...(events && { events: events.map((event) => ({ ...event, ...keepEvent(event, records) })) }),
    ...(turns && { turns: turns.map((turn) => keepTurn(turn, records)) }),
  })
}

function keepTurn({ text, ...turn }: TurnWrite, records: readonly NewRecord[]): object {
  const record = answerOf(text, records)
  return record ? { ...turn, endSeq: record.seq } : { ...turn, text }
}

interface Slots {
  /** SQL expressions: the session id, the step key (`null`: no step writes this), and the writes. */
  session: string
  key: string
  writes: string
  /**
   * What happens if a record exists already: `strict` is an error, `once` keeps the record, for writes that may come
   * twice.
   */
  records: 'strict' | 'once'
}

/**
 * CTEs that write everything if the CTE `guard(gen)` has a row. Scalar subqueries on a whole key look up what exists
 * already, because a join may make PostgreSQL read all events or turns of the session. At most one turn without
 * `messageId` is ended at a time. A child that exists already is left as it is. If another origin asked for that
 * session, the whole statement fails (`isNullViolation`), also when both ask at the same moment.
 */
export function writesSql({ session, key, writes, records }: Slots): string {
  const conflict = records === 'once' ? 'on conflict do nothing' : ''
  const child = `${writes}->'child'`
  return `
  w_records as (
    insert into records (session_id, gen, seq, message, chain, whole, density)
    select ${session}, guard.gen, r.seq, r.message, r.chain, r.whole, r.density
    from guard, jsonb_to_recordset(coalesce(${writes}->'records', '[]'))
      as r(seq int, message jsonb, chain text, whole text, density real)
    ${conflict}
  ),
  w_new_events as (
    select e.event, row_number() over (order by e.n) as n
    from guard, jsonb_array_elements(coalesce(${writes}->'events', '[]')) with ordinality as e(event, n)
    where (select x.gen from events x
           where x.session_id = ${session} and x.gen = guard.gen and x.key = e.event->>'key') is null
  ),
  w_told as (
    select count(*)::int as events, count(*) = jsonb_array_length(coalesce(${writes}->'events', '[]')) as anew from w_new_events
  ),
  w_session as (${sessionSql(session, writes)}),
  w_events as (
    insert into events (session_id, "offset", gen, key, step, turn, round, told, seq, type, data, abandoned)
    select ${session}, s.first + e.n - 1, s.gen, e.event->>'key', ${key}, (e.event#>>'{at,turn}')::int,
      (e.event#>>'{at,round}')::int, (e.event#>>'{at,told}')::int, (e.event->>'seq')::int, e.event->>'type', e.event->'data', s.abandoned
    from w_new_events e, w_session s
  ),
  w_usage as (
    insert into usage (session_id, gen, step_key, root_id, model, usage)
    select ${session}, guard.gen, ${key}, ${writes}#>>'{usage,rootId}', ${writes}#>>'{usage,model}', (${writes}->'usage') - '{rootId,model}'::text[]
    from guard where ${writes} ? 'usage'
    on conflict do nothing
  ),
  w_turns_opened as (
    insert into turns (session_id, gen, turn, message_id, start_seq, status, stop_reason, text, end_seq, rounds, left_out, ended_at)
    select ${session}, guard.gen, t.turn, t."messageId", coalesce(t."startSeq", 0),
      case when t."stopReason" is null then 'open' else 'ended' end, t."stopReason", t.text, t."endSeq", t.rounds, t."leftOut",
      case when t."stopReason" is null then null else now() end
    from guard, jsonb_to_recordset(coalesce(${writes}->'turns', '[]'))
      as t(turn int, "messageId" text, "startSeq" int, "stopReason" text, text text, "endSeq" int, rounds int, "leftOut" int)
    where t."messageId" is not null and coalesce(
      (select x.turn from turns x
       where x.session_id = ${session} and x.gen = guard.gen and x.message_id = t."messageId") = t.turn, true)
    on conflict (session_id, gen, turn) do update set
      status = excluded.status, stop_reason = excluded.stop_reason, text = excluded.text, end_seq = excluded.end_seq,
      rounds = excluded.rounds, left_out = excluded.left_out, ended_at = excluded.ended_at
      where turns.status = 'open'
  ),
  w_turns_ended as (
    update turns set status = 'ended', stop_reason = t."stopReason", text = t.text, end_seq = t."endSeq", rounds = t.rounds,
      left_out = t."leftOut", ended_at = now()
    from guard, jsonb_to_recordset(coalesce(${writes}->'turns', '[]'))
      as t(turn int, "messageId" text, "stopReason" text, text text, "endSeq" int, rounds int, "leftOut" int)
    where t."messageId" is null and turns.session_id = ${session} and turns.gen = guard.gen and turns.turn = t.turn
      and turns.status = 'open'
      and turns.turn = (select max(e.turn) from jsonb_to_recordset(${writes}->'turns') as e(turn int, "messageId" text)
                        where e."messageId" is null)
  ),
  w_child as (
    insert into sessions (id, root_id, parent_id, branch_session, branch_gen, branch_seq, depth, agent, label, profile, config, origin)
    select c."sessionId", c."rootId", c."parentId", c.branch->>'sessionId', (c.branch->>'gen')::int, (c.branch->>'seq')::int,
      c.depth, c.config->>'agent', c.config->>'label', c.config->>'profile', c.config, c.origin
    from guard, jsonb_to_record(${child})
      as c("sessionId" text, "rootId" text, "parentId" text, branch jsonb, depth int, config jsonb, origin text)
    where ${writes} ? 'child'
    on conflict (id) do update set id = null where sessions.origin is distinct from excluded.origin
    returning id
  ),
  w_child_records as (
    insert into records (session_id, gen, seq, message, chain)
    select w_child.id, 0, r.seq, r.message, r.chain
    from w_child, jsonb_to_recordset(${child}->'records') as r(seq int, message jsonb, chain text)
  ),
  w_messages as (
    insert into messages (session_id, message_id, body)
    select w_child.id, ${child}#>>'{message,messageId}', ${child}#>>'{message,text}' from w_child where ${child} ? 'message'
    union all
    select ${session}, ${writes}#>>'{message,messageId}', ${writes}#>>'{message,text}' from guard where ${writes} ? 'message'
    on conflict do nothing
  ),
  w_waiting as (
    insert into steps (session_id, gen, step_key, kind, name, input_hash, lease, waiting)
    select ${session}, guard.gen, ${writes}#>>'{waiting,key}', 'call', ${writes}#>>'{waiting,name}', '', 0, true
    from guard where ${writes} ? 'waiting'
    on conflict do nothing
  ),
  w_live as (
    delete from live using guard where session_id = ${session} and step_key = ${key}
  )`
}

/** Changes the session's row. The mark `unopened` changes it only if no run has opened the session. */
function sessionSql(session: string, writes: string): string {
  return `
    update sessions set
      next_offset = next_offset + told.events,
      pause = case when told.anew and ${writes} ? 'pause' then nullif(${writes}->'pause', 'null') else pause end,
      pauses_forks = case when told.anew and ${writes}->'pause' = 'null' and not ${writes} ? 'treeStaysPaused' then null
                     else pauses_forks end,
      closed_at = case when told.anew and ${writes} ? 'closed' then coalesce(closed_at, now()) else closed_at end,
      closing_at = case when ${writes} @> '{"closing": true}' or (${writes} ? 'closing' and config->'limits' is null)
                   then coalesce(closing_at, now()) else closing_at end
    from guard, w_told told where id = ${session}
    returning next_offset - told.events as first, guard.gen, sessions.gen > guard.gen as abandoned,
      closing_at is not null as closing`
}
