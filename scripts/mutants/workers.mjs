/** Breaks of take-over, generations and the worker's side of the ledger. `breaks.mjs` says what a break is. */
const store = (file) => `src/store/${file}.ts`
const step = (file) => `src/activities/step/${file}.ts`
const onStore = (file) => ({ project: 'store', test: `test/store/${file}.test.ts` })
const onServers = (file, project = 'integration') => ({ project, test: `test/integration/${file}.test.ts` })

export const WORKERS = [
  // The take-over.
  {
    rule: 'a stolen step is fenced',
    file: store('ledger/liveness'),
    from: 'update steps set lease = steps.lease + 1, owner = null, token = null, deaths = steps.deaths + dead.died',
    to: 'update steps set owner = null, token = null, deaths = steps.deaths + dead.died',
    ...onStore('takeover'),
  },
  {
    rule: 'a dead worker is known until its steps are taken',
    file: 'src/worker/take-over.ts',
    from: 'of await withoutSteps(db, dead, taker)',
    to: 'of dead',
    project: 'crash',
    test: 'test/crash/take-over.test.ts',
    name: 'counts the death of a worker whose session was locked',
  },
  {
    rule: 'who holds a lock is alive',
    file: store('ledger/liveness'),
    from: 'export const DEAD: string = `(not ${HELD} and exists (',
    to: 'export const DEAD: string = `(exists (',
    ...onStore('takeover'),
  },
  {
    rule: 'who has not arrived at a new server is not dead at once',
    file: store('ledger/liveness'),
    from: "(h.boot_id = owner or h.since <= now() - $1 * interval '1 millisecond')",
    to: '(h.boot_id = owner or $1::int is not null)',
    ...onStore('takeover'),
  },
  {
    rule: 'a worker takes over in its own namespace only',
    file: store('ledger/liveness'),
    from: '`exists (select from sessions s where s.id = steps.session_id and coalesce(s.namespace, $3) = $3)`',
    to: "'$3::text is not null'",
    ...onStore('namespaces'),
  },
  {
    rule: 'a death is looked at twice',
    file: store('ledger/liveness'),
    from: '  if (await seemsAlive()) return true\n  await doubted()\n  return seemsAlive()',
    to: '  return seemsAlive()',
    ...onStore('takeover'),
  },
  {
    rule: 'one worker searches for a dead one',
    file: store('ledger/workers'),
    from: 'and searcher is not distinct from before',
    to: '',
    ...onStore('workers'),
  },
  {
    rule: 'a worker that left in order has not died of its steps',
    file: store('ledger/liveness'),
    from: '(exists (select from workers w where w.boot_id = owner))::integer',
    to: '(owner is not null)::integer',
    ...onStore('deaths'),
  },
  // The generations.
  {
    rule: 'a run that was left behind stays behind',
    file: store('ledger/runs'),
    from: "if (row.known) return { kind: 'stale' }",
    to: '',
    ...onStore('generations'),
  },
  {
    rule: 'only the newest run opens a generation',
    file: store('ledger/runs'),
    from: "if (!successor && !(await ref.isNewest())) return { kind: 'stale' }",
    to: '',
    ...onStore('generations'),
  },
  {
    rule: 'a run that continues another stays in its generation',
    file: store('ledger/runs'),
    from: 'row.run_id === null || row.run_id === ref.prevRunId',
    to: 'row.run_id === null',
    ...onStore('generations'),
  },
  {
    rule: 'events of an abandoned future are marked',
    file: store('ledger/abandon-future'),
    from: 'await run(tx, ABANDON, [sessionId, gen, told, turn, round])',
    to: '',
    ...onStore('abandoned'),
  },
  {
    rule: 'what an earlier generation settled with the same input is not done again',
    file: store('ledger/reuse'),
    from: 'if (gen === 0) return undefined',
    to: 'return undefined',
    ...onStore('generations'),
  },
  {
    rule: 'only the same input is reused',
    file: store('ledger/reuse'),
    from: 'and input_hash = $4 and gen < $5',
    to: 'and $4::text is not null and gen < $5',
    ...onStore('generations'),
  },
  {
    rule: 'no workflow adopts a closed session',
    file: store('ledger/runs'),
    from: "if (row.closed && ref.fresh) return { kind: 'closed', gen: row.gen }",
    to: '',
    ...onStore('generations'),
  },
  // The ledger rule in the worker.
  {
    rule: 'a step that kills its takers is not run',
    file: step('quarantine'),
    from: 'return deaths >= TAKERS',
    to: 'return deaths > TAKERS',
    ...onStore('quarantine'),
  },
  {
    rule: 'what a dead worker had begun is asked for, not repeated',
    file: step('run-step'),
    from: 'claim.begun && work.unknown ? await work.unknown(claim, stop) : await work.run(claim, stop, hand)',
    to: 'await work.run(claim, stop, hand)',
    ...onStore('call-tool'),
  },
  {
    rule: 'a worker that seems dead begins nothing',
    file: step('run-step'),
    from: "if (!liveness.held()) throw new StelloError('STORE_UNAVAILABLE', UNHELD)",
    to: '',
    ...onStore('run-step'),
  },
  {
    rule: 'a step of another living worker is waited for',
    file: step('run-step'),
    from: "claim.kind === 'mineAlready' || !(await isAlive(db, claim.owner))",
    to: 'true',
    ...onStore('run-step'),
  },
  {
    rule: 'a result waits for the store to come back',
    file: step('end-step'),
    from: 'if (!untilStored || !isUnavailable(error) || deps.db.pool.ended) throw error',
    to: 'throw error',
    ...onStore('run-step'),
  },
  // The workflow.
  {
    rule: 'a run continues as new only behind the notices that it is telling',
    file: 'src/workflows/perform-telling.ts',
    from: 'telling: () => notices > 0,',
    to: 'telling: () => false,',
    ...onServers('notices'),
    name: 'is told once of a pause, also when the session continues as new while it is being told',
  },
  {
    rule: 'a run ends only when nothing is under way',
    file: 'src/workflows/session.ts',
    from: 'mailbox.length === 0 && performer.quiet() && allHandlersFinished()',
    to: 'mailbox.length === 0',
    ...onServers('continue-as-new', 'operations'),
  },
]
