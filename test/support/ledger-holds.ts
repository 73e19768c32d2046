/**
 * Holds a worker at exactly the statement with which it claims or settles a step, or announces something. A trigger
 * waits for a lock that the test holds. PostgreSQL goes on with a statement even if its client was killed meanwhile. So
 * the test decides whether the last statement of the dead worker still counts.
 */
import pg from 'pg'
import { until } from './until.ts'

export interface HeldStep {
  session: string
  /** A step of a child of that session. */
  child?: boolean
  /** Unset: any step. */
  step?: string
  /**
   * `park`: a person is asked. `reopen`: the call goes on after that. `retake`: a step that was given back is taken
   * again. `adopt`: the store adopts a run of the session. `pause`, `resume`, `end` (of a turn) and `close` are
   * announced.
   */
  moment: 'claim' | 'retake' | 'settle' | 'park' | 'reopen' | 'adopt' | 'pause' | 'resume' | 'end' | 'close'
}

export interface LedgerHold {
  /** Resolves when a worker waits. */
  reached(): Promise<void>
  /** The worker that waits goes on, and no other is held any more. Resolves when its statement is committed. */
  letThrough(): Promise<void>
  /** The server ends the connection of the worker that waits, without a trace, and no other is held any more. */
  drop(): Promise<void>
}

export interface LedgerHolds {
  hold(at: HeldStep): Promise<LedgerHold>
  close(): Promise<void>
}

/** The first of the two numbers of our locks. The locks of workers have only one number, so they differ from ours. */
const LOCKS = 4711

const SETUP = `
  create table held_steps (
    id integer generated always as identity primary key,
    session_id text not null, child boolean not null, step_key text, moment text not null
  );
  create function hold_step() returns trigger language plpgsql as $$
  declare
    written jsonb := to_jsonb(new);
    owner text := coalesce(written->>'session_id', written->>'id');
    held integer;
  begin
    for held in
      select h.id from held_steps h where h.moment = tg_argv[0] and coalesce(h.step_key = written->>'step_key', true)
        and h.session_id = case when h.child then (select parent_id from sessions where id = owner) else owner end
    loop
      perform pg_advisory_xact_lock_shared(${LOCKS}, held);
    end loop;
    return new;
  end $$;
  create trigger hold_claim before insert on steps for each row execute function hold_step('claim');
  create trigger hold_settle before update on steps for each row
    when (old.outcome is null and new.outcome is not null) execute function hold_step('settle');
  create trigger hold_park before update on steps for each row
    when (old.pending is null and new.pending is not null) execute function hold_step('park');
  create trigger hold_reopen before update on steps for each row
    when (old.pending is not null and new.pending is null and new.outcome is null) execute function hold_step('reopen');
  create trigger hold_retake before update on steps for each row
    when (old.owner is null and new.owner is not null) execute function hold_step('retake');
  create trigger hold_pause before update on sessions for each row
    when (old.pause is distinct from new.pause and new.pause is not null) execute function hold_step('pause');
  create trigger hold_resume before update on sessions for each row
    when (old.pause is not null and new.pause is null) execute function hold_step('resume');
  create trigger hold_close before update on sessions for each row
    when (old.closed_at is null and new.closed_at is not null) execute function hold_step('close');
  create trigger hold_end before update on turns for each row
    when (old.status = 'open' and new.status = 'ended') execute function hold_step('end');
  create trigger hold_adopt before insert on runs for each row execute function hold_step('adopt');
`
const OURS = `locktype = 'advisory' and classid = ${LOCKS} and objid = $1 and objsubid = 2
  and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()`

/** Once per database. */
export async function startLedgerHolds(databaseUrl: string): Promise<LedgerHolds> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(SETUP)
  // A connection owns its locks, and takes one query at a time.
  let last: Promise<unknown> = Promise.resolve()
  const query = <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> => {
    const result = last.then(() => client.query<Row>(text, values))
    last = result.catch(() => undefined)
    return result
  }

  return {
    async hold({ session, child = false, step, moment }) {
      const { rows } = await query<{ id: number }>(
        `with held as (
           insert into held_steps (session_id, child, step_key, moment) values ($1, $2, $3, $4) returning id
         ) select id from held where pg_try_advisory_lock(${LOCKS}, id)`,
        [session, child, step ?? null, moment],
      )
      const id = rows[0]?.id
      const what = `the ${moment} of ${step ?? session}`
      const waiting = async (): Promise<number[]> =>
        (await query<{ pid: number }>(`select pid from pg_locks where ${OURS}`, [id])).rows.map(({ pid }) => pid)
      const release = async (): Promise<void> => {
        await query('delete from held_steps where id = $1', [id])
        await query(`select pg_advisory_unlock(${LOCKS}, $1)`, [id])
        await until(`${what} to be over`, async () => (await waiting()).length === 0)
      }
      return {
        reached: async () => void (await until(what, async () => (await waiting()).length > 0)),
        letThrough: release,
        async drop() {
          await query('delete from held_steps where id = $1', [id])
          for (const pid of await waiting()) await query('select pg_terminate_backend($1, 10000)', [pid])
          await release()
        },
      }
    },
    close: () => client.end(),
  }
}
