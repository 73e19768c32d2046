/** Counts the open sessions of an agent by state, for people who watch all of them and not a single one. */
import { run, type Database } from '../database/database.ts'
import { statement, type Statement } from '../database/statement.ts'
import { SUMMARIES } from './sessions.ts'

export interface SessionCounts {
  /** Open sessions by state. */
  states: ReadonlyMap<string, number>
  /** Paused sessions by reason. */
  pauses: ReadonlyMap<string, number>
  /** Items that wait for a person, by kind. */
  pending: ReadonlyMap<string, number>
  /** How long the oldest pause and the oldest item have waited, in seconds by the store's clock. 0: none waits. */
  oldest: { paused: number; pending: number }
}

/** An agent's open sessions in a namespace of Temporal, or those that no worker has opened yet. */
const OPEN = `select id from sessions
  where agent = $1 and coalesce(closed_at, 'infinity') = 'infinity' and coalesce(namespace, $2) = $2`
const AGE = `coalesce(greatest(extract(epoch from now() - min(since)), 0), 0)::float8`
const STATES: Statement = statement(
  'count_states',
  `select state, pause->>'reason' as reason, count(*)::int as n from (${SUMMARIES}) counted
         where id in (${OPEN}) group by 1, 2`,
)
/** The time of a pause is in the session's log, near its end, because a paused session writes little. */
const PAUSED: Statement = statement(
  'count_paused',
  `select ${AGE} as age from sessions s, lateral (
           select at as since from events where session_id = s.id and type = 'session.paused' order by "offset" desc limit 1
         ) paused
         where s.id in (${OPEN}) and s.pause is not null`,
)
const PENDING: Statement = statement(
  'count_pending',
  `select kind, count(*)::int as n, ${AGE} as age from (
           select p.pending->>'kind' as kind, (p.pending->>'at')::timestamptz as since
           from steps p join sessions s on s.id = p.session_id and s.gen = p.gen
           where p.outcome is null and p.pending is not null and s.id in (${OPEN})
         ) items group by kind`,
)

/** @param namespace of Temporal; sessions of other namespaces are not counted */
export async function countSessions(db: Database, agent: string, namespace: string): Promise<SessionCounts> {
  const values = [agent, namespace]
  const states = await run<{ state: string; reason: string | null; n: number }>(db.pool, STATES, values)
  const paused = await run<{ age: number }>(db.pool, PAUSED, values)
  const pending = await run<{ kind: string; n: number; age: number }>(db.pool, PENDING, values)
  return {
    states: summed(states.map(({ state, n }) => [state, n])),
    pauses: summed(states.flatMap(({ reason, n }) => (reason === null ? [] : [[reason, n]]))),
    pending: summed(pending.map(({ kind, n }) => [kind, n])),
    oldest: { paused: paused[0]?.age ?? 0, pending: Math.max(0, ...pending.map(({ age }) => age)) },
  }
}

function summed(counts: readonly [string, number][]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [name, n] of counts) sums.set(name, (sums.get(name) ?? 0) + n)
  return sums
}
