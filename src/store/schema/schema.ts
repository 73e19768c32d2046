/**
 * The first schema: tables, indexes, functions, triggers. Before the first release it may be rewritten, but then it needs
 * another name in `MIGRATIONS`. After the first release it never changes: each change is its own migration.
 */

const SESSIONS = `
  create table sessions (
    id text primary key,
    root_id text not null,
    parent_id text,
    branch_session text,
    branch_gen integer,
    branch_seq integer,
    depth integer not null default 0,
    -- How many sessions were ever forked directly below it.
    children integer not null default 0,
    agent text not null,
    label text not null,
    profile text,
    config jsonb not null,
    origin text,
    gen integer not null default 0,
    -- The run in Temporal and its namespace. Unset until a run has opened the session.
    run_id text,
    namespace text,
    next_offset integer not null default 0,
    pause jsonb,
    -- The pause with which later forks of this session begin, because somebody has paused its tree.
    pauses_forks jsonb,
    -- Somebody has begun to close the session and its forks, so nothing begins in it any more.
    closing_at timestamptz,
    closed_at timestamptz,
    created_at timestamptz not null default now()
  ) with (fillfactor = 70);
  create index sessions_root on sessions (root_id);
  create index sessions_parent on sessions (parent_id);
  create index sessions_created on sessions (created_at);
  -- What a person calls a session: the beginning of its id, in the order of bytes whatever the collation, or its label.
  create index sessions_id on sessions (id text_pattern_ops);
  create index sessions_label on sessions (label);
  -- It stays small, because few sessions are paused.
  create index sessions_paused on sessions (root_id) where pause is not null and closed_at is null;
  -- Finds the sessions that a worker may be working on. An index of open turns would be written at the end of each turn,
  -- which costs 9 % more write-ahead log.
  create index sessions_living on sessions (agent, (coalesce(closed_at, 'infinity')));

  -- bounds: those that a client has stated. When the root is opened, the agent's bounds complete them.
  create table trees (
    root_id text primary key, sessions integer not null default 1, bounds jsonb not null default '{}'
  ) with (fillfactor = 70);
  create table runs (
    session_id text not null, run_id text not null, gen integer not null,
    primary key (session_id, run_id)
  );
  -- fresh: a workflow that was started anew has begun it. Such a workflow counts its announcements from 0.
  create table generations (
    session_id text not null, gen integer not null, parent_gen integer not null, branch_seq integer not null,
    fresh boolean not null default false,
    primary key (session_id, gen)
  );
`

const CONTENT = `
  create table messages (
    session_id text not null, message_id text not null, body text not null, at timestamptz not null default now(),
    primary key (session_id, message_id)
  );
  create table turns (
    session_id text not null, gen integer not null, turn integer not null,
    message_id text not null,
    status text not null,
    stop_reason text,
    -- The text that the turn ends with: that of record end_seq, or here if no record of its generation holds it.
    text text,
    end_seq integer,
    rounds integer,
    start_seq integer not null,
    -- The last record of a turn whose records models no longer read, because a provider refuses them.
    left_out integer,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    primary key (session_id, gen, turn),
    unique (session_id, gen, message_id)
  );
  create index turns_left_out on turns (session_id) where left_out is not null;
  create table records (
    session_id text not null, gen integer not null, seq integer not null,
    message jsonb not null,
    chain text not null,
    whole text,
    -- Of an answer: how many tokens its provider counted for one of our estimate of the prompt.
    density real,
    at timestamptz not null default now(),
    primary key (session_id, gen, seq)
  );
  -- Stands for the records up to up_to, inherited ones included, in prompts. The records stay. Its key names the session and
  -- the generation that own record up_to, so whoever inherits that record finds it. cut: no model has written it. step: of the
  -- session that has paid for it.
  create table summaries (
    session_id text not null, gen integer not null, up_to integer not null,
    text text not null,
    -- The user's message that is being answered, where it is among the records that it stands for.
    question text,
    stands_for integer not null,
    cut boolean not null,
    step text not null,
    at timestamptz not null default now(),
    primary key (session_id, gen, up_to)
  );
  -- What a tool has set, one row for each call that has set it. seq: the record of that call. JSON null: the call has removed it.
  create table session_values (
    session_id text not null, gen integer not null, name text not null, seq integer not null,
    value jsonb not null,
    primary key (session_id, gen, name, seq)
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

  -- step: the step that told the event. turn, round, told: the event's place in the history. seq: the record of its
  -- generation that holds the rest of its data (src/store/transcript/from-records.ts). abandoned: a rewind of Temporal has left this
  -- future behind. The event stays in the log, so that offsets have no gap, but nobody is shown it.
  create table events (
    session_id text not null, "offset" integer not null,
    gen integer not null, key text not null,
    step text,
    turn integer,
    round integer,
    told integer,
    seq integer,
    type text not null,
    data jsonb not null,
    abandoned boolean not null default false,
    at timestamptz not null default now(),
    primary key (session_id, "offset"),
    unique (session_id, gen, key)
  );
  create index events_abandoned on events (session_id) where abandoned;
  create unlogged table live (
    session_id text not null, step_key text not null, lease integer not null, n integer not null,
    type text not null,
    data jsonb not null,
    at timestamptz not null default now(),
    primary key (session_id, step_key, lease, n)
  );
`

const LEDGER = `
  -- outcome: leaves out what the records first_seq to last_seq hold. deaths: how many workers died while they held the
  -- step. pending: the question that a person is asked; beside an outcome, the question that was asked. awaits: the agents
  -- that a waiting call waits for.
  create table steps (
    session_id text not null, gen integer not null, step_key text not null,
    kind text not null,
    name text not null,
    input_hash text not null,
    lease integer not null,
    -- The worker that has it in hand; beside an outcome, the one that has settled it.
    owner text,
    token bytea,
    failures integer not null default 0,
    deaths integer not null default 0,
    -- Since when the weather has held the step up, what it waits for, and when it is tried again.
    failing_since timestamptz,
    weather jsonb,
    next_try timestamptz,
    released boolean not null default false,
    waiting boolean not null default false,
    awaits text[],
    pending jsonb,
    decided jsonb,
    outcome jsonb,
    first_seq integer,
    last_seq integer,
    ends_turn boolean not null default false,
    begun_at timestamptz not null default now(),
    settled_at timestamptz,
    primary key (session_id, gen, step_key)
  ) with (fillfactor = 70);
  create index steps_unsettled on steps (session_id, gen) where outcome is null;

  -- searcher: if this worker is dead, the living worker that looks for the activities it has left in Temporal.
  create table workers (
    boot_id text primary key, agent text not null, namespace text not null, searcher text,
    -- The host whose working folders it has, and how many that host takes at most.
    host text,
    capacity integer,
    started_at timestamptz not null default now()
  );
  -- Says on which server a worker holds its lock. It is unlogged, so that it is empty after a crash of the server and on a
  -- replica that is promoted.
  create unlogged table holders (
    boot_id text primary key, server text not null, since timestamptz not null default now()
  );
  -- The working folder of a tree or of a session, which has the same id. host: unset while the last one is lost.
  create table workspaces (
    id text primary key, root_id text not null, agent text not null,
    generation integer not null default 1,
    host text,
    since timestamptz not null default now()
  );
  create index workspaces_host on workspaces (host);
  -- What people have permitted for good. owner: the id of a session, of the root of a tree, or the name of an agent, as the
  -- scope says. session_id: where it was said.
  create table permission_rules (
    scope text not null, owner text not null, rule text not null, session_id text not null,
    at timestamptz not null default now(),
    primary key (scope, owner, rule)
  );
  create table agents (
    name text primary key, manifest jsonb not null, seen_at timestamptz not null default now()
  );
`

/** The identity of this store. A copy has the same identity, because it is the same store at another time. */
const STORE = `
  create table store (
    sole boolean primary key default true check (sole), identity uuid not null default gen_random_uuid()
  );
  insert into store default values;
`

/** The generations whose rows are visible in generation `at`, each with its last visible record. */
const LINE = `
  create function stello_line(id text, at integer) returns table (gen integer, up_to integer) language sql stable as $$
    with recursive line(gen, up_to) as (
      select at, 2147483647
      union all
      select g.parent_gen, least(line.up_to, g.branch_seq)
      from line join generations g on g.session_id = id and g.gen = line.gen
    )
    select gen, up_to from line
  $$;
`

/** The beginning of a record. Events, outcomes and turns tell no more of it, even if it is long. */
const SHOWN = `
  create function stello_shown(message jsonb) returns jsonb language sql immutable as $$
    select jsonb_strip_nulls(jsonb_build_object(
      'content', left(message->>'content', 4097),
      'toolCalls', (
        select jsonb_agg(jsonb_build_object('id', call->'id', 'name', call->'name', 'arguments', left(call->>'arguments', 1001)) order by n)
        from jsonb_array_elements(message->'toolCalls') with ordinality as calls(call, n))))
  $$;
`

/**
 * A trigger counts each child once, whichever statement inserts its row. It does not fire for a child that exists
 * already. It locks the parent's row, and then the tree's. The marks `closing_at` and `pauses_forks` lock the parent's
 * row too, so one of the two sees the other. `stello_hold` pauses a session that no run has opened yet, or resumes it
 * (null). It changes only the session's row, and the run that opens the session finds it so.
 */
const FORKS = `
  create function stello_fork_beyond(depth integer, children integer, sessions integer, bounds jsonb)
  returns text language sql immutable as $$
    select case
      when depth > (bounds->>'maxDepth')::bigint then 'maxDepth'
      when children > (bounds->>'maxChildren')::bigint then 'maxChildren'
      when sessions > (bounds->>'maxSessions')::bigint then 'maxSessions' end
  $$;
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
  create function stello_count_fork() returns trigger language plpgsql as $$
  declare
    parent record;
    tree record;
    beyond text;
  begin
    update sessions set children = children + 1 where id = new.parent_id
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
  create trigger sessions_count_fork after insert on sessions
    for each row when (new.parent_id is not null) execute function stello_count_fork();
`

export const SCHEMA: string = SESSIONS + CONTENT + LEDGER + STORE + LINE + SHOWN + FORKS
