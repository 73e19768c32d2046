/**
 * Holds a worker at the very statement with which it claims or settles a step: a trigger waits for a lock of the test.
 * PostgreSQL goes on with a statement whose client was killed meanwhile, so that the test decides whether the dead
 * worker's last word still counts.
 */
import pg from 'pg'
import { until } from './until.ts'

export interface HeldStep {
  session: string
  /** Of a child of that session. */
  child?: boolean
  step: string
  /** `adopt`: the session's next run, whatever the step. */
  moment: 'claim' | 'settle' | 'adopt'
}

export interface LedgerHold {
  /** Resolves when a worker waits. */
  reached(): Promise<void>
  /** Whoever waits goes on, and nobody is held any more. Resolves when that is committed. */
  letThrough(): Promise<void>
  /** Whoever waits is thrown out by the server, without a trace, and nobody is held any more. */
  drop(): Promise<void>
}

export interface LedgerHolds {
  hold(at: HeldStep): Promise<LedgerHold>
  close(): Promise<void>
}

/** Of our locks with two numbers, which differ from those of a worker with one. */
const LOCKS = 4711

const SETUP = `
  create table held_steps (
    id integer generated always as identity primary key,
    session_id text not null, child boolean not null, step_key text not null, moment text not null
  );
  create function hold_step() returns trigger language plpgsql as $$
  declare
    row_key text := to_jsonb(new)->>'step_key';
    held integer;
  begin
    for held in
      select h.id from held_steps h where h.moment = tg_argv[0] and h.step_key = coalesce(row_key, h.step_key)
        and h.session_id = case when h.child then (select parent_id from sessions where id = new.session_id) else new.session_id end
    loop
      perform pg_advisory_xact_lock_shared(${LOCKS}, held);
    end loop;
    return new;
  end $$;
  create trigger hold_claim before insert on steps for each row execute function hold_step('claim');
  create trigger hold_settle before update on steps for each row
    when (old.outcome is null and new.outcome is not null) execute function hold_step('settle');
  create trigger hold_adopt before insert on runs for each row execute function hold_step('adopt');
`
const OURS = `locktype = 'advisory' and classid = ${LOCKS} and objid = $1 and objsubid = 2
  and database = (select oid from pg_database where datname = current_database()) and pid <> pg_backend_pid()`

/** Once per database. */
export async function startLedgerHolds(databaseUrl: string): Promise<LedgerHolds> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(SETUP)
  // Locks belong to the connection, and it takes one query at a time.
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
        [session, child, step, moment],
      )
      const id = rows[0]?.id
      const what = `the ${moment} of ${step}`
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
