/** Breaks of the ledger and its workers. `breaks.mjs` says what a break is. */
const store = (file) => `src/store/${file}.ts`
const onStore = (file) => ({ project: 'store', test: `test/store/${file}.test.ts` })

export const LEDGER = [
  // The claim.
  {
    rule: 'only the current run begins a step, without a look',
    file: store('ledger/claim-statements'),
    from: `const FAST = \`
  with ok as (
    select gen from sessions
    where id = $1 and run_id = $3 and gen = 0`,
    to: `const FAST = \`
  with ok as (
    select gen from sessions
    where id = $1 and gen = 0`,
    ...onStore('claim'),
  },
  {
    rule: 'a paused session begins no step',
    file: store('ledger/claim'),
    from: "if (state?.paused) return { kind: 'paused' }",
    to: '',
    ...onStore('claim'),
  },
  {
    rule: 'a closed session begins no step',
    file: store('ledger/claim'),
    from: "if (state?.closed) return { kind: 'closed' }",
    to: '',
    ...onStore('closing'),
  },
  {
    rule: 'a step in another hand is not taken',
    file: store('ledger/claim'),
    from: 'if (row.owner === null) return undefined',
    to: 'if (row.owner !== owner) return undefined',
    ...onStore('claim'),
  },
  {
    rule: 'a step has one input',
    file: store('ledger/claim'),
    from: 'row.input_hash !== NEVER_CLAIMED && row.input_hash !== inputHash',
    to: 'false',
    ...onStore('claim'),
  },
  {
    rule: 'what was begun stays begun when it is taken anew',
    file: store('ledger/claim'),
    from: 'begun: !released',
    to: 'begun: false',
    ...onStore('claim'),
  },
  {
    rule: 'the last taker of a step runs it alone',
    file: store('ledger/claim'),
    from: "if (existing?.deaths === TAKERS - 1 && !request.alone) return { kind: 'lastChance' }",
    to: '',
    ...onStore('quarantine'),
  },
  {
    rule: 'a message is answered in one turn only',
    file: store('ledger/claim-statements'),
    from: 'and not exists (select from turns where session_id = $1 and gen = 0 and message_id = $10 and turn <> $11)',
    to: 'and $10::text is not null and $11::int is not null',
    ...onStore('claim'),
  },
  {
    rule: 'what waits for a person is nobody’s',
    file: store('ledger/claim'),
    from: "if (row.pending) return { kind: 'parked', gen, item: row.pending }",
    to: '',
    ...onStore('pending'),
  },
  // The settle.
  {
    rule: 'who has lost the lease settles nothing',
    file: store('ledger/settle'),
    from: `where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null
    returning gen
  ), \${writesSql`,
    to: `where session_id = $1 and step_key = $2 and gen = $3 and $4::int is not null and outcome is null
    returning gen
  ), \${writesSql`,
    ...onStore('settle'),
  },
  {
    rule: 'the first to settle decides',
    file: store('ledger/settle'),
    from: `where session_id = $1 and step_key = $2 and gen = $3 and lease = $4 and outcome is null
    returning gen
  ), \${writesSql`,
    to: `where session_id = $1 and step_key = $2 and gen = $3 and lease = $4
    returning gen
  ), \${writesSql`,
    ...onStore('settle'),
  },
  {
    rule: 'steps that tell the same event at the same moment are all settled',
    file: store('database/database'),
    from: 'if (!isToldMeanwhile(error) || ',
    to: 'if (isUniqueViolation(error) || ',
    ...onStore('told-meanwhile'),
  },
  {
    rule: 'an agent is opened again in the order of ids, as the pause of a tree locks',
    file: store('sessions/agent-sessions'),
    from: 'where id in ($1, $2) order by id for no key update',
    to: 'where id = $2 for no key update',
    ...onStore('waited-statements'),
  },
  {
    rule: 'forks of closed sessions of a paused tree begin paused',
    file: store('sessions/hold-tree'),
    from: "MARK('$2::jsonb', 'pauses_forks is null')",
    to: "MARK('$2::jsonb', 'closed_at is null and pauses_forks is null')",
    ...onStore('waited-statements'),
  },
  {
    rule: 'to propose an outcome fences whoever runs the step',
    file: store('ledger/settle'),
    from: 'do update set lease = steps.lease + 1, owner = $6',
    to: 'do update set lease = steps.lease, owner = $6',
    ...onStore('claim'),
  },
  {
    rule: 'a step that is handed over keeps the deaths of its takers',
    file: store('ledger/settle'),
    from: 'deaths = case when $5 or $6 then 0 when $8',
    to: 'deaths = case when true then 0 when $8',
    ...onStore('deaths'),
  },
  {
    rule: 'a question stays the one that was put',
    file: store('ledger/parked'),
    from: 'pending = coalesce(pending, $5::jsonb',
    to: 'pending = coalesce($5::jsonb',
    ...onStore('pending'),
  },
  {
    rule: 'a step that reopens has a lease nobody knows',
    file: store('ledger/parked'),
    from: 'update steps set lease = lease + 1, owner = null, token = null, released = true',
    to: 'update steps set owner = null, token = null, released = true',
    ...onStore('pending'),
  },
  {
    rule: 'a summary that failed before a rewind is asked for again',
    file: store('ledger/reuse'),
    from: "not in ('cancelled', 'failed')",
    to: "not in ('cancelled')",
    ...onStore('compaction'),
  },
  {
    rule: 'a close leaves the answer of an earlier generation alone',
    file: 'src/activities/session/announce.ts',
    from: "turns[i]?.turn?.status !== 'ended'",
    to: 'turns[i] !== null',
    ...onStore('restarted'),
  },
  {
    rule: 'a wait for an agent is told what holds the agent up',
    file: store('watching/inbox'),
    from: 'held.id = any(awaits)',
    to: 'false',
    ...onStore('inbox'),
  },
  {
    rule: 'a call begins behind a check that may be slow',
    file: 'src/activities/tool/prepare.ts',
    from: '|| !tool.check.quick',
    to: '',
    ...onStore('call-tool'),
  },
  {
    rule: 'a turn that was open is found behind workflows that were lost before they began',
    file: 'src/store/transcript/turns.ts',
    from: 'and g.fresh and g.branch_seq = left_at.branch_seq',
    to: 'and false',
    ...onStore('restarted'),
  },
  {
    rule: 'a message that was closed since is not taken up again',
    file: 'src/store/transcript/turns.ts',
    from: "since.gen > t.gen and since.status = 'ended'",
    to: 'false',
    ...onStore('restarted'),
  },
]
