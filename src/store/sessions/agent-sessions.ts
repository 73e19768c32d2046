/** Agents as the store knows them: child sessions that a call has spawned, and that may be asked again. */
import type { StopReason } from '../../protocol/steps.ts'
import type { Tells } from '../../protocol/session-input.ts'
import { SQL, readAgentOrigin } from '../../protocol/keys.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { TEXT } from '../transcript/turns.ts'

export interface AgentRow {
  id: string
  label: string
  profile: string | null
  closed: boolean
  /** Why it is paused. */
  pause: string | null
  /** A turn is under way, or a message waits for one. */
  busy: boolean
  /** How its last turn ended. Null: it has had none. */
  stop_reason: StopReason | null
  text: string | null
}

/** A message waits as long as no turn has answered it, and nothing says that it was refused. */
const WAITING = `
  select m.message_id from messages m
  where m.session_id = s.id and not ${SQL.isAnswerBody('m.message_id')}
    and not exists (select from turns a where a.session_id = m.session_id and a.message_id = m.message_id and a.status = 'ended')
    and not exists (select from events r where r.session_id = m.session_id and r.key = ${SQL.eventKey('message.rejected', 'm.message_id')})`
const LOOK: Statement = statement(
  'agents_look',
  `select s.id, s.label, s.profile, s.closed_at is not null as closed, s.pause->>'message' as pause,
           coalesce(last.status = 'open', false) or exists (${WAITING}) as busy, last.stop_reason, last.text
         from sessions s left join lateral (
           select t.status, t.stop_reason, ${TEXT('t')} as text from turns t
           where t.session_id = s.id order by t.gen desc, t.turn desc limit 1
         ) last on true
         where s.id = any($2) and s.parent_id = $1 and starts_with(s.origin, ${SQL.agentOrigin('s.parent_id')})`,
)
const UNANSWERED: Statement = statement(
  'agent_unanswered',
  `select w.message_id from sessions s, lateral (${WAITING} order by m.at, m.message_id) w where s.id = $1`,
)
/**
 * Locks the parent as a fork does: a parent that closes gets no child that is open, and in a tree that is paused the
 * agent is paused like a new fork. Locks in the order of ids, as the pause of a tree does.
 */
const REOPEN: Statement = statement(
  'agent_reopen',
  `with locked as (
           select id, pauses_forks, closing_at, closed_at from sessions where id in ($1, $2) order by id for no key update
         ), parent as (
           select id, pauses_forks from locked where id = $2 and closing_at is null and closed_at is null
         ), reopened as (
           update sessions s set closed_at = null, closing_at = null,
             pauses_forks = coalesce(parent.pauses_forks, case when s.pause->>'reason' = 'user' then s.pauses_forks end),
             pause = coalesce(case when s.pause->>'reason' = 'user' then s.pause end, parent.pauses_forks),
             next_offset = s.next_offset + case when parent.pauses_forks is null then 0 else 1 end
           from parent where s.id = $1 and s.parent_id = parent.id and s.closed_at is not null
           returning s.id, s.gen, s.next_offset - 1 as told, s.pause, parent.pauses_forks is not null as held
         ), paused as (
           insert into events (session_id, "offset", gen, key, type, data)
           select id, told, gen, 'held.' || told, 'session.paused', pause from reopened where held
         )
         select id from reopened`,
)
const ORIGIN: Statement = statement('session_origin', 'select origin, parent_id from sessions where id = $1')

/** The agents of the session among those ids. */
export function readAgentRows(db: Database, parentId: string, ids: readonly string[]): Promise<AgentRow[]> {
  return run<AgentRow>(db.pool, LOOK, [parentId, [...ids]])
}

/** The messages whose bodies are stored, and that no turn has answered, oldest first. */
export async function unansweredMessages(db: Database, sessionId: string): Promise<string[]> {
  const rows = await run<{ message_id: string }>(db.pool, UNANSWERED, [sessionId])
  return rows.map((row) => row.message_id)
}

/** Opens a closed agent again: its workflow must then be started. @returns false when it is open, or its parent closes */
export async function reopenAgent(db: Database, sessionId: string, parentId: string): Promise<boolean> {
  return (await run(db.pool, REOPEN, [sessionId, parentId])).length > 0
}

/** The session that is told about this session's turns. Undefined: this session is no agent. */
export async function readTells(db: Database, sessionId: string): Promise<Tells | undefined> {
  const [row] = await run<{ origin: string | null; parent_id: string | null }>(db.pool, ORIGIN, [sessionId])
  return row?.origin && row.parent_id !== null ? readAgentOrigin(row.origin, row.parent_id) : undefined
}
