/**
 * The schema, change by change. One that was released is never altered, and versions before it may still run: it adds,
 * and does not rename. `migrate.ts` runs them.
 */

const FIRST = `
  create table sessions (
    id text primary key,
    root_id text not null,
    parent_id text,
    branch_session text,
    branch_gen integer,
    branch_seq integer,
    depth integer not null default 0,
    agent text not null,
    label text not null,
    profile text,
    config jsonb not null,
    origin text,
    gen integer not null default 0,
    run_id text,
    next_offset integer not null default 0,
    pause jsonb,
    closed_at timestamptz,
    created_at timestamptz not null default now()
  ) with (fillfactor = 70);
  create index sessions_root on sessions (root_id);
  create index sessions_parent on sessions (parent_id);
  create index sessions_created on sessions (created_at);

  create table runs (
    session_id text not null, run_id text not null, gen integer not null,
    primary key (session_id, run_id)
  );
  create table generations (
    session_id text not null, gen integer not null, parent_gen integer not null, branch_seq integer not null,
    primary key (session_id, gen)
  );
  create table messages (
    session_id text not null, message_id text not null, body text not null, at timestamptz not null default now(),
    primary key (session_id, message_id)
  );
  create table turns (
    session_id text not null, gen integer not null, turn integer not null,
    message_id text not null,
    status text not null,
    stop_reason text,
    text text,
    rounds integer,
    start_seq integer not null,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (session_id, gen, turn),
    unique (session_id, gen, message_id)
  );
  create table records (
    session_id text not null, gen integer not null, seq integer not null,
    message jsonb not null,
    chain text not null,
    whole text,
    at timestamptz not null default now(),
    primary key (session_id, gen, seq)
  );
  create table steps (
    session_id text not null, gen integer not null, step_key text not null,
    kind text not null,
    name text not null,
    input_hash text not null,
    lease integer not null,
    owner text,
    token bytea,
    failures integer not null default 0,
    released boolean not null default false,
    waiting boolean not null default false,
    outcome jsonb,
    first_seq integer,
    last_seq integer,
    ends_turn boolean not null default false,
    begun_at timestamptz not null default now(),
    settled_at timestamptz,
    primary key (session_id, gen, step_key)
  ) with (fillfactor = 70);
  create index steps_unsettled on steps (session_id, gen) where outcome is null;
  create table events (
    session_id text not null, "offset" integer not null,
    gen integer not null, key text not null,
    type text not null,
    data jsonb not null,
    at timestamptz not null default now(),
    primary key (session_id, "offset"),
    unique (session_id, gen, key)
  );
  create unlogged table live (
    session_id text not null, step_key text not null, lease integer not null, n integer not null,
    type text not null,
    data jsonb not null,
    at timestamptz not null default now(),
    primary key (session_id, step_key, lease, n)
  );
  create table usage (
    session_id text not null, gen integer not null, step_key text not null,
    root_id text not null,
    model text not null,
    usage jsonb not null,
    at timestamptz not null default now(),
    primary key (session_id, gen, step_key)
  );
  create index usage_root on usage (root_id);
  create table workers (
    boot_id text primary key, agent text not null, started_at timestamptz not null default now()
  );
  create table agents (
    name text primary key, manifest jsonb not null, seen_at timestamptz not null default now()
  );
`

/**
 * `stello_line`: the generations whose rows are visible in generation `at`, and of each up to which record.
 * Events of a future that Temporal was rewound from stay in the log, so that offsets have no gap, but are not shown.
 */
const REWINDS = `
  create function stello_line(id text, at integer) returns table (gen integer, up_to integer) language sql stable as $$
    with recursive line(gen, up_to) as (
      select at, 2147483647
      union all
      select g.parent_gen, least(line.up_to, g.branch_seq)
      from line join generations g on g.session_id = id and g.gen = line.gen
    )
    select gen, up_to from line
  $$;
  alter table events add column abandoned boolean not null default false;
  create index events_abandoned on events (session_id) where abandoned;
`

/** A parked step holds the item that waits for a person; together with an outcome it tells what was asked. */
const PENDING = `
  alter table steps add column pending jsonb;
  create index steps_pending on steps (session_id, gen) where pending is not null and outcome is null;
`

/**
 * `holders`: which worker holds its lock on which server. Unlogged: what follows a crash of the server, and a replica
 * once it is promoted, begins with none. `sessions_living`: those that a worker may have in hand. Not one of open
 * turns: with it the end of each turn would write all its index entries anew, 9 % more write-ahead log per turn.
 */
const HOLDERS = `
  create unlogged table holders (
    boot_id text primary key, server text not null, since timestamptz not null default now()
  );
  create index sessions_living on sessions (agent, (coalesce(closed_at, 'infinity')));
`

/** How many takers of a step died with it in hand (`TAKERS` in `src/store/claim.ts`). */
const DEATHS = `
  alter table steps add column deaths integer not null default 0;
`

/**
 * What bounds a tree. `trees.bounds`: what a client stated, completed by the agent when the root is opened. Every row of
 * a child is counted by the statement that inserts it, whichever that is, and once: a trigger of what is inserted is not
 * asked for a child that is there. It locks the parent before the tree. `closing_at`: whoever began to close the session
 * closes its forks too, so nothing is begun in it any more.
 */
const BOUNDS = `
  alter table sessions add column children integer, add column closing_at timestamptz;
  create table trees (
    root_id text primary key, sessions integer not null default 1, bounds jsonb not null default '{}'
  ) with (fillfactor = 70);
  insert into trees (root_id, sessions) select root_id, count(*) from sessions group by root_id;
  update sessions set children = counted.n
    from (select parent_id, count(*)::int as n from sessions group by parent_id) counted
    where counted.parent_id = sessions.id;

  create function stello_fork_beyond(depth integer, children integer, sessions integer, bounds jsonb)
  returns text language sql immutable as $$
    select case
      when depth > (bounds->>'maxDepth')::bigint then 'maxDepth'
      when children > (bounds->>'maxChildren')::bigint then 'maxChildren'
      when sessions > (bounds->>'maxSessions')::bigint then 'maxSessions' end
  $$;
  create function stello_count_fork() returns trigger language plpgsql as $$
  declare
    parent record;
    tree record;
    beyond text;
  begin
    update sessions set children = coalesce(children, 0) + 1 where id = new.parent_id
      returning children, closing_at is not null and closed_at is null as closing into parent;
    update trees set sessions = sessions + 1 where root_id = new.root_id returning sessions, bounds into tree;
    beyond := case when parent.closing then 'closing'
      else stello_fork_beyond(new.depth, parent.children, tree.sessions, tree.bounds) end;
    if beyond is not null then
      raise exception 'fork refused: %', beyond using errcode = '23ST1', detail = jsonb_build_object(
        'beyond', beyond, 'value', tree.bounds->beyond, 'parentId', new.parent_id, 'rootId', new.root_id);
    end if;
    return null;
  end
  $$;
  create trigger sessions_count_fork after insert on sessions
    for each row when (new.parent_id is not null) execute function stello_count_fork();
`

/**
 * Where an event belongs, and what told it. The names of the keys that events had until then tell it of those that are
 * there. `fresh`: the generation was begun by a workflow that was started anew, and counts its announcements from 0.
 */
const EVENT_PLACES = `
  alter table events add column step text, add column turn integer, add column round integer, add column told integer;
  update events set
    turn = (regexp_match(key, '^[mt](\\d+)\\.'))[1]::int,
    round = (regexp_match(key, '^[mt]\\d+\\.(\\d+)[.@]'))[1]::int,
    told = case when key ~ '^a\\d+\\.' then substring(key from '^a(\\d+)')::int when key !~ '^([mt]\\d+|fork)\\.' then 0 end,
    step = substring(key from '^(a\\d+|[mt]\\d+\\.\\d+(\\.\\d+)?)[.@]');
  alter table generations add column fresh boolean not null default false;
`

/** `searcher`: the living worker that looks for what a dead one has left in Temporal. */
const WATCH = `alter table workers add column searcher text`
/** In which of Temporal's namespaces a session lives and a worker works: several may share one store. */
const NAMESPACES = `
  alter table sessions add column namespace text;
  alter table workers add column namespace text;
`

/**
 * `oldest`: the last migration that a version must know to work on this schema. One that takes something away from the
 * versions before states itself here: `update compatibility set oldest = '<its name>'`.
 */
const COMPATIBILITY = `
  create table compatibility (oldest text not null);
  insert into compatibility (oldest) values ('0014_ops');
`

/** Which store this is. A copy has the same identity: it is the same store at another time. */
const IDENTITY = `
  create table store (
    sole boolean primary key default true check (sole), identity uuid not null default gen_random_uuid()
  );
  insert into store default values;
`

/**
 * `pauses_forks`: whoever paused the tree of this session paused all that is forked here later, too; it says with which
 * pause they begin. The trigger that counts a fork has locked the parent's row, as the mark does, so that one of the two
 * sees the other. `stello_hold`: a session that no run has opened yet is paused, or resumed (null), by its row: the run
 * that opens it finds it so.
 */
const HOLDS = `
  alter table sessions add column pauses_forks jsonb;

  create function stello_hold(session text, hold jsonb) returns void language sql as $$
    with held as (
      update sessions set pause = hold, next_offset = next_offset + 1
      where id = session and run_id is null and closed_at is null and (pause is null) = (hold is not null)
      returning gen, next_offset - 1 as told
    )
    insert into events (session_id, "offset", gen, key, type, data)
    select session, told, gen, 'held.' || told, case when hold is null then 'session.resumed' else 'session.paused' end,
      coalesce(hold, '{}') from held
  $$;
  create or replace function stello_count_fork() returns trigger language plpgsql as $$
  declare
    parent record;
    tree record;
    beyond text;
  begin
    update sessions set children = coalesce(children, 0) + 1 where id = new.parent_id
      returning children, closing_at is not null and closed_at is null as closing, pauses_forks into parent;
    update trees set sessions = sessions + 1 where root_id = new.root_id returning sessions, bounds into tree;
    beyond := case when parent.closing then 'closing'
      else stello_fork_beyond(new.depth, parent.children, tree.sessions, tree.bounds) end;
    if beyond is not null then
      raise exception 'fork refused: %', beyond using errcode = '23ST1', detail = jsonb_build_object(
        'beyond', beyond, 'value', tree.bounds->beyond, 'parentId', new.parent_id, 'rootId', new.root_id);
    end if;
    if parent.pauses_forks is not null then
      update sessions set pauses_forks = parent.pauses_forks where id = new.id;
      perform stello_hold(new.id, parent.pauses_forks);
    end if;
    return null;
  end
  $$;
`

/** In order of their names. */
export const MIGRATIONS: Readonly<Record<string, string>> = {
  '0001_first': FIRST,
  '0002_rewinds': REWINDS,
  '0003_pending': PENDING,
  '0004_holders': HOLDERS,
  '0005_deaths': DEATHS,
  '0008_bounds': BOUNDS,
  '0009_ledger': EVENT_PLACES + NAMESPACES,
  '0012_watch': WATCH,
  '0013_identity': IDENTITY,
  '0014_ops': COMPATIBILITY,
  '0016_people': HOLDS,
}

/**
 * Indexes that came after the tables: built, or dropped where the text is null, without holding up who writes. Nothing but
 * the speed of a look depends on them. Behind the name stands what follows `create index`.
 */
export const INDEXES: Readonly<Record<string, string | null>> = {
  // The inbox reads `steps_unsettled`. With an index of its own for what waits, each question wrote to all indexes (no HOT
  // update). That a settle still does so is the price of `steps_unsettled`, which it takes the step out of: a table of
  // open steps would write more.
  steps_pending: null,
  // Few sessions are paused.
  sessions_paused: 'on sessions (root_id) where pause is not null and closed_at is null',
}
