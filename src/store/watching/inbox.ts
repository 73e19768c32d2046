/** Everything that waits for a person: questions of parked steps, and pauses. Also says which sessions they hold up. */
import { SQL } from '../../protocol/keys.ts'
import type { PendingItem } from '../../protocol/pending.ts'
import type { Pause } from '../../core/pause.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'

/** The session that waits. */
export interface InboxPlace {
  /** Its id. */
  sessionId: string
  /** Its name for people. */
  label: string
  /** The agent that serves it. */
  agent: string
}

/** A question. Its session goes on after an answer. */
export interface InboxQuestion extends PendingItem, InboxPlace {}

/** A pause. Its session goes on after a resume. */
export interface InboxPause extends Pause, InboxPlace {
  /** Makes it different from a question. */
  kind: 'paused'
  /** Since when, ISO 8601, by the store's clock. */
  at: string
}

/** Something that waits for a person. */
export type InboxItem = InboxQuestion | InboxPause

/** SQL for a time in ISO 8601. The store makes all times, because the clocks of workers may differ. */
export const ISO = (moment: string): string => `to_char(${moment} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** @param which a condition on session `s` */
const QUESTIONS = (which: string): string => `
  select s.id, s.label, s.agent, p.pending as item from steps p join sessions s on s.id = p.session_id and s.gen = p.gen
  where p.pending is not null and p.outcome is null and s.closed_at is null and ${which}`
const PAUSES = (which: string): string => `
  select s.id, s.label, s.agent, s.pause || jsonb_build_object('kind', 'paused', 'at', ${ISO('coalesce(told.at, s.created_at)')}) as item
  from sessions s left join lateral (
    select at from events where session_id = s.id and type = 'session.paused' and not abandoned order by "offset" desc limit 1
  ) told on true
  where s.pause is not null and s.closed_at is null and ${which}`
const OLDEST_FIRST = `order by item->>'at', item->>'id', id`
const GIVEN = `($1::text[] is null or s.id = any($1))`

const READ_QUESTIONS: Statement = statement(
  'inbox_questions',
  `select * from (${QUESTIONS(GIVEN)}) items ${OLDEST_FIRST}`,
)
const READ_ALL: Statement = statement(
  'inbox',
  `select * from (${QUESTIONS(GIVEN)} union all ${PAUSES(GIVEN)}) items ${OLDEST_FIRST}`,
)
/**
 * Starts at everything that waits in the trees and goes up through the calls that await a child or an agent. So the cost
 * depends on the number of waiting items, not on the size of the tree. A call awaits only the child that it opened itself:
 * a child from an abandoned future has another hash. It awaits any agent of its session, and its row says which. Each row is
 * looked up by its whole key or among the few open steps, because a join may make PostgreSQL read all steps of a session.
 */
const HOLDUPS: Statement = statement(
  'inbox_holdups',
  `
  with recursive tree as (select distinct root_id from sessions where id = any($1)),
  held as (
    select s.id as by, s.id from sessions s
    where s.pause is not null and s.closed_at is null and s.root_id in (select root_id from tree)
    union
    select s.id, s.id from steps p join sessions s on s.id = p.session_id and s.gen = p.gen
    where p.pending is not null and p.outcome is null and s.closed_at is null and s.root_id in (select root_id from tree)
    union
    select held.by, parent.id
    from held,
      lateral (select parent_id, ${SQL.originCall('origin')} as call, ${SQL.originHash('origin')} as hash
               from sessions where id = held.id offset 0) child,
      lateral (select id, gen from sessions where id = child.parent_id and closed_at is null offset 0) parent,
      lateral (
        select from
          (select from steps where session_id = parent.id and gen = parent.gen and step_key = ${SQL.openingKey('child.call')}
             and input_hash = child.hash offset 0) opened,
          lateral (select from steps where session_id = parent.id and gen = parent.gen and step_key = child.call
             and waiting and outcome is null offset 0) waits
        union all
        (select from steps where session_id = parent.id and gen = parent.gen and outcome is null and held.id = any(awaits) offset 0)
      ) awaiting
  )
  select held.id as held, items.* from held join unnest($1::text[]) asked(id) on asked.id = held.id,
    lateral (${QUESTIONS('s.id = held.by')} union all ${PAUSES('s.id = held.by')}) items
  order by held.by <> held.id, item->>'kind' <> 'paused', item->>'at', item->>'id', held.by`,
)

interface Row {
  id: string
  label: string
  agent: string
  item: Omit<PendingItem, keyof InboxPlace> | Omit<InboxPause, keyof InboxPlace>
}

/** All items, oldest first. @param sessions unset: of all sessions */
export async function readInbox(db: Database, sessions?: string[]): Promise<InboxItem[]> {
  return (await run<Row>(db.pool, READ_ALL, [sessions ?? null])).map(toItem)
}

/** Only the questions, oldest first. @param sessions unset: of all sessions */
export async function readQuestions(db: Database, sessions?: string[]): Promise<InboxQuestion[]> {
  return (await run<Row>(db.pool, READ_QUESTIONS, [sessions ?? null])).map(toItem) as InboxQuestion[]
}

/**
 * The items that hold each of these sessions up: in the session itself, or in a session that it waits for, at any depth. A
 * session's own items come first, then pauses before questions, then the oldest first.
 */
export async function readHoldups(db: Database, sessions: string[]): Promise<Map<string, InboxItem[]>> {
  const rows = await run<Row & { held: string }>(db.pool, HOLDUPS, [sessions])
  const holdups = new Map<string, InboxItem[]>()
  for (const row of rows) {
    const known = holdups.get(row.held) ?? []
    holdups.set(row.held, known)
    known.push(toItem(row))
  }
  return holdups
}

function toItem({ id, label, agent, item }: Row): InboxItem {
  return { sessionId: id, label, agent, ...item } as InboxItem
}
