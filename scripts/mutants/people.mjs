/** Breaks of what people decide and are told: approvals, the end of the time for an answer, notices, pauses that end by themselves. */
const session = (file) => `src/session/${file}.ts`
const tool = (file) => `src/activities/tool/${file}.ts`
const unit = (file, name) => ({ project: 'unit', test: `test/unit/session/${file}.test.ts`, name })
const onStore = (file, name) => ({ project: 'store', test: `test/store/${file}.test.ts`, name })
const onServers = (file, name) => ({ project: 'integration', test: `test/integration/${file}.test.ts`, name })

export const PEOPLE = [
  // Approvals.
  {
    rule: 'arguments that a person has edited are checked again',
    file: tool('settle-answered'),
    from: 'return parsed.ok ? argumentsOf(edited) : `the arguments do not fit:\\n${parsed.problem}`',
    to: 'return argumentsOf(edited)',
    ...onStore('edited-arguments', 'waits on when it is given some'),
  },
  {
    rule: 'a deny rule also denies arguments that a person has edited',
    file: tool('call-permit'),
    from: 'if (ruled) return ruled',
    to: 'if (ruled && approved !== true) return ruled',
    ...onStore('edited-arguments', 'is denied all the same by a rule that denies these'),
  },
  {
    rule: 'an approval of edited arguments adds no rule',
    file: tool('settle-answered'),
    from: 'argsOf(ending, item) ? undefined : answer.remember',
    to: 'answer.remember',
    ...onStore('edited-arguments', 'runs with these, once'),
  },
  {
    rule: 'a deny rule also denies arguments that a function of the agent has changed',
    file: tool('call-permit'),
    from: "if (verdict.decision === 'deny') {",
    to: 'if (verdict.decision === undefined) {',
    ...onStore('approval', 'a deny rule also holds for the arguments'),
  },
  {
    rule: 'an answer counts for the question that is open',
    file: tool('settle-answered'),
    from: 'lease === undefined || item?.id !== said.id',
    to: 'lease === undefined || item === undefined',
    ...onStore('lost-call', 'to another question decides nothing'),
  },
  {
    rule: 'a turn that is being stopped takes no answer',
    file: session('answers'),
    from: 'if (turn.stopping) return STOPPING',
    to: '',
    ...unit('pending', 'also while paused'),
  },
  {
    rule: 'an answer that came before its question is refused when the turn is being stopped',
    file: session('answers'),
    from: 'const problem = turn.stopping ? STOPPING : unfit',
    to: 'const problem = unfit',
    ...unit('pending', 'that arrives too early is refused if the turn is being stopped'),
  },
  // The end of the time for an answer.
  {
    rule: 'an answer that comes before the end of its time counts',
    file: session('answers'),
    from: "if (call.status !== 'waiting') return [replaceCall(state, turn, over), []]",
    to: '',
    ...unit('expiry', 'takes an answer that comes first'),
  },
  {
    rule: 'an answer that comes after the end of its time is refused',
    file: session('answers'),
    from: 'if (call.expired) return `the time for an answer to "${answer.id}" is over`',
    to: '',
    ...unit('expiry', 'refuses an answer that comes later'),
  },
  {
    rule: 'every run promises the end of the time for an answer',
    file: session('lifecycle'),
    from: '      ...endsOfAsking(next),\n',
    to: '',
    ...unit('expiry', 'is promised anew by the next run'),
  },
  {
    rule: 'a call is denied when nobody has answered in time, unless its agent says otherwise',
    file: 'src/agent/permission-settings.ts',
    from: "default: decision = 'deny' }: AgentPermissions",
    to: "default: decision = 'approve' }: AgentPermissions",
    ...onServers('expiry', 'is denied, and the model reads that nobody has said anything'),
  },
  // Notices to people outside.
  {
    rule: 'a question is told once, however often its call is met',
    file: session('answers'),
    from: 'if (before.pending?.id === pending?.id) {',
    to: 'if (pending === undefined) {',
    ...unit('notices', 'also when the store was away and its call asks once more'),
  },
  {
    rule: 'what was told is not told again by the next run',
    file: session('tell-people'),
    from: 'return [replaceCall(state, turn, { ...call, pending }), []]',
    to: 'return [state, []]',
    ...unit('notices', 'is told by the next run only if this one has not'),
  },
  {
    rule: 'a pause that has ended is not told',
    file: session('tell-people'),
    from: 'if (telling === undefined || !pause) return []',
    to: 'if (telling === undefined) return []',
    ...unit('notices', 'is not told any more when it has ended'),
  },
  // Pauses that end by themselves.
  {
    rule: 'a try is made for the pause that has promised it',
    file: session('lifecycle'),
    from: 'if (state.resuming || state.pause?.nextTryAt !== at) return [state, []]',
    to: 'if (state.resuming || !state.pause) return [state, []]',
    ...unit('auto-resume', 'no longer holds its promise after'),
  },
  {
    rule: 'a pause by a person takes the place of one that ends by itself',
    file: session('outbox'),
    from: 'if (before.nextTryAt !== undefined) return next.nextTryAt === undefined',
    to: '',
    ...unit('auto-resume', 'gives way to a person'),
  },
  {
    rule: 'every run promises the next try',
    file: session('lifecycle'),
    from: '      ...nextTry(next),\n',
    to: '',
    ...unit('auto-resume', 'is promised anew by each run'),
  },
  {
    rule: 'tries in a row are made after longer and longer waits',
    file: 'src/activities/next-try.ts',
    from: 'auto.firstMs * 2 ** Math.min(tries, 30)',
    to: 'auto.firstMs',
    project: 'unit',
    test: 'test/unit/activities/next-try.test.ts',
    name: 'waits longer after each try',
  },
  {
    rule: 'a call that was begun before a rewind is looked for with the arguments of a person',
    file: 'src/store/ledger/reuse.ts',
    from: 'const begunWith = before?.args ?? before?.begunWith',
    to: 'const begunWith = before?.begunWith',
    ...onStore('edited-arguments', 'asks a person after a rewind'),
  },
  {
    rule: 'a call that may run again forgets the arguments from before a rewind',
    file: 'src/store/ledger/parked.ts',
    from: "coalesce($6::jsonb, decided) - 'begunWith'",
    to: 'coalesce($6::jsonb, decided)',
    ...onStore('edited-arguments', 'is looked for with these after a rewind'),
  },
  {
    rule: 'a question without an answer by default waits on',
    file: tool('settle-answered'),
    from: 'if (!answer) return waitingOutcome(deps, item, gen)',
    to: "if (!answer) return { kind: 'due', gen }",
    ...onStore('lost-call', 'that nobody has given stays open'),
  },
  {
    rule: 'a session that goes on by itself leaves its tree paused',
    file: 'src/activities/session/announce.ts',
    from: 'input.events.some(isOwnTry)',
    to: 'false',
    ...onStore('hold-tree', 'leaves a session'),
  },
]
