/**
 * Reads the time line of some sessions: the steps of the ledger, the attempts that were taken over, waits and pauses. It reads no
 * record. Only the newest spans are read, however much has happened. It never writes.
 */
import { SQL, readRound } from '../../protocol/keys.ts'
import { preview } from '../../core/message.ts'
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { pausesOf, takenOver, waitsOf, type ToldRow } from './timeline-events.ts'
import { inOrder, type KeyedSpan, type TimelineSpan } from './timeline-span.ts'

/** The most spans. */
const SPANS = 5000
const TITLE_SHOWN = 200

/**
 * The newest steps. A step of an earlier generation counts if its writes still count and no later generation has a
 * step in its place.
 */
const STEPS: Statement = statement(
  'timeline_steps',
  `
  select p.session_id as session, p.step_key as key, p.kind, p.name, p.failures, p.owner, p.waiting, p.begun_at as begun,
    p.settled_at as settled, p.outcome->>'kind' as ended, p.outcome->>'stopReason' as stop,
    coalesce(p.outcome->>'isError', p.outcome#>>'{result,isError}') as error, coalesce(p.outcome->>'code', p.outcome#>>'{result,code}') as code,
    p.failing_since as held, p.weather->>'provider' as provider, p.weather->>'why' as why,
    coalesce(told.data->>'title', (
      select e.data #>> array['calls', ${SQL.indexOf('p.step_key')}, 'title'] from events e
      where e.session_id = p.session_id and e.gen = p.gen
        and e.key = ${SQL.eventKey('message.completed', SQL.askedBy('p.step_key'))})) as title,
    told.data->>'callId' as call
  from (
    select p.* from steps p join sessions s on s.id = p.session_id
    where p.session_id = any($1) and (p.gen = s.gen or (
      exists (select from stello_line(s.id, s.gen) line where line.gen = p.gen and coalesce(p.last_seq, 0) <= line.up_to)
      and not exists (select from steps q where q.session_id = p.session_id and q.step_key = p.step_key and q.gen > p.gen)))
    order by p.begun_at desc limit ${SPANS}
  ) p
  left join lateral (
    select data from events e
    where e.session_id = p.session_id and e.gen = p.gen and e.key = ${SQL.eventKey('tool.status', 'p.step_key')} offset 0
  ) told on true`,
)
/** SQL: the events that a time line needs. The index `events_timeline` has exactly this condition. */
export const TOLD: string = `type in ('pending.opened', 'pending.closed', 'session.paused', 'session.resumed', 'session.closed', 'session.rewound', 'step.taken_over')`
const EVENTS: Statement = statement(
  'timeline_events',
  `
  select * from (
    select e.session_id as session, e."offset", e.at, e.type, e.turn, e.round, e.data from unnest($1::text[]) as asked(id),
      lateral (select * from events where session_id = asked.id and ${TOLD} order by "offset" desc limit ${SPANS}) e
    where not e.abandoned order by e.at desc limit ${2 * SPANS}
  ) newest order by session, "offset"`,
)

interface StepRow {
  session: string
  key: string
  kind: string
  name: string
  failures: number
  owner: string | null
  waiting: boolean
  begun: Date
  settled: Date | null
  ended: string | null
  stop: string | null
  error: string | null
  code: string | null
  held: Date | null
  provider: string | null
  why: string | null
  title: string | null
  call: string | null
}

/** The newest 5,000 spans of these sessions, in the order in which they began. */
export async function readTimeline(db: Database, sessions: string[]): Promise<TimelineSpan[]> {
  const [steps, told] = await Promise.all([
    run<StepRow>(db.pool, STEPS, [sessions]),
    run<ToldRow>(db.pool, EVENTS, [sessions]),
  ])
  const known = steps.flatMap((row) => [...weatherOf(row), ...spanOf(row)])
  return inOrder([...known, ...takenOver(told), ...waitsOf(told), ...pausesOf(told)]).slice(-SPANS)
}

/** A step that nobody has in hand has no span: its last attempt has failed, waits for a person, or was taken over. */
function spanOf(row: StepRow): KeyedSpan[] {
  const { session, key, kind, name, owner, waiting, begun, settled, title, call, code, failures } = row
  const awaits = kind === 'call'
  if (!settled && (owner === null || waiting) && !awaits) return []
  return [
    {
      sessionId: session,
      kind: kind === 'model' || kind === 'tool' ? kind : 'child',
      name,
      ...(title !== null && { title }),
      ...turnAndRound(key),
      ...(call !== null && { callId: call }),
      attempt: 1,
      ...(owner !== null && { worker: owner }),
      begunAt: begun,
      ...(settled && { endedAt: settled, outcome: outcomeOf(row) }),
      ...(code !== null && { code }),
      step: { key, failures },
    },
  ]
}

/** A wait for a provider that was away ends where the last attempt begins. */
function weatherOf({ session, key, owner, settled, held, provider, why, begun }: StepRow): KeyedSpan[] {
  if (held === null || provider === null) return []
  const over = settled !== null || owner !== null
  const title = why === null ? {} : { title: preview(why, TITLE_SHOWN) }
  const span = {
    sessionId: session,
    kind: 'wait',
    name: provider,
    ...title,
    ...turnAndRound(key),
    attempt: 1,
    begunAt: held,
  } as const
  return [over ? { ...span, endedAt: begun < held ? held : begun, outcome: 'succeeded' } : span]
}

function outcomeOf({ ended, stop, error, code }: StepRow): NonNullable<TimelineSpan['outcome']> {
  if (ended === 'cancelled' || stop === 'cancelled' || code === 'TOOL_CANCELLED') return 'cancelled'
  if (code === 'TOOL_OUTCOME_UNKNOWN') return 'unknown'
  return error === 'true' ? 'failed' : 'succeeded'
}

function turnAndRound(key: string): Pick<TimelineSpan, 'turn' | 'round'> {
  return readRound(key) ?? { turn: 0 }
}
