/** The event `step.taken_over`, which the statements write that take a step from a dead worker. */
import { SQL } from '../../protocol/keys.ts'
import { ISO } from '../watching/inbox.ts'

/**
 * SQL: CTEs that tell an event about each row of the CTE `taken(session_id, gen, step_key, kind, name, lease, owner, begun_at)`.
 * The rows must be the attempts as they were before the take-over, because the update overwrites them.
 */
export const TELL_TAKEN_OVER: string = `
  t_sessions as (
    update sessions set next_offset = next_offset + told.n
    from (select session_id, count(*)::int as n from taken group by 1) told where id = told.session_id
    returning id, sessions.gen as current, next_offset - told.n as first
  ),
  t_events as (
    insert into events (session_id, "offset", gen, key, step, turn, round, type, data, abandoned)
    select t.session_id, s.first + row_number() over (partition by t.session_id order by t.gen, t.step_key) - 1, t.gen,
      ${SQL.eventKey('step.taken_over', `t.step_key || ' ' || t.lease`)}, t.step_key, at.turn, at.round, 'step.taken_over',
      jsonb_strip_nulls(jsonb_build_object('key', t.step_key, 'kind', t.kind, 'name', t.name, 'turn', at.turn, 'round', at.round,
        'worker', t.owner, 'begunAt', ${ISO('t.begun_at')})), s.current > t.gen
    from taken t join t_sessions s on s.id = t.session_id,
      lateral (select ${SQL.turnOf('t.step_key')} as turn, ${SQL.roundOf('t.step_key')} as round) at
  )`
