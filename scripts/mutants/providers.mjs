/** Breaks of what stands between a session and its model: the gate before a provider, waits that it names, compaction. */
const model = (file) => `src/activities/model/${file}.ts`
const compaction = (file) => `src/activities/compaction/${file}.ts`
const unit = (file, name) => ({ project: 'unit', test: `test/unit/activities/${file}.test.ts`, name })
const onStore = (file, name) => ({ project: 'store', test: `test/store/${file}.test.ts`, name })

export const PROVIDERS = [
  // The gate.
  {
    rule: 'nobody asks a provider while it says wait',
    file: model('gate'),
    from: 'if (now < state.until) return undefined',
    to: '',
    ...unit('gate', 'lets one probe through when the wait is over'),
  },
  {
    rule: 'a wait that a provider has named is kept',
    file: model('gate'),
    from: 'return this.#waits > 1 && waitMs < FIRST_WAIT_MS ? own : waitMs',
    to: 'return own',
    ...unit('gate', 'keeps a wait that the provider has named'),
  },
  {
    rule: 'an answer to a request from before the outage opens no gate',
    file: model('gate'),
    from: '  served(ticket: Ticket): boolean {\n    const state = this.#state\n    if (ticket.epoch !== this.#epoch) return false',
    to: '  served(ticket: Ticket): boolean {\n    const state = this.#state',
    ...unit('gate', 'is not opened by the answer to a request from before it was closed'),
  },
  {
    rule: 'a gate opens slowly after an outage',
    file: model('gate'),
    from: 'if (state.asking >= state.allowed) return undefined',
    to: '',
    ...unit('gate', 'lets four ask at once'),
  },
  {
    rule: 'nobody overtakes those who stand in line',
    file: model('gates'),
    from: 'line.roots.size > 0 ? undefined : line.gate.admit(this.#now())',
    to: 'line.gate.admit(this.#now())',
    ...unit('gates', 'a session that comes late does not overtake'),
  },
  {
    rule: 'the trees of sessions take turns before a gate',
    file: model('gates'),
    from: '  line.roots.delete(root)\n  line.roots.set(root, waiters)\n',
    to: '',
    ...unit('gates', 'the trees take turns'),
  },
  {
    rule: 'Retry-After counts seconds',
    file: 'src/models/model-error.ts',
    from: 'return Math.max(0, seconds * 1000)',
    to: 'return Math.max(0, seconds)',
    project: 'unit',
    test: 'test/models/model-error.test.ts',
    name: 'is read from milliseconds first, then from seconds',
  },
  {
    rule: 'a provider that asks for a longer wait than is allowed pauses the session at once',
    file: model('weather'),
    from: 'refusal.waitMs !== undefined && refusal.waitMs > leftMs',
    to: 'refusal.waitMs === Infinity',
    ...onStore('compaction', 'pauses the session when that takes too long'),
  },
  // Compaction.
  {
    rule: 'a transcript is never cut between a call and its result',
    file: compaction('cut-points'),
    from: "open === 0 && (role === 'user' || afterRound)",
    to: "(role !== 'assistant' || afterRound)",
    ...unit('cut-points', 'leaves whole exchanges on both sides'),
  },
  {
    rule: 'a transcript is never cut after a round that lacks a result',
    file: compaction('cut-points'),
    from: 'index > 0 && open === 0 &&',
    to: 'index > 0 &&',
    ...unit('cut-points', 'is not made right after a round that lacks a result'),
  },
  {
    rule: 'what stays behind the cut fits',
    file: compaction('cut-points'),
    from: 'points.find((index) => index <= turn && fits(index))',
    to: 'points.find((index) => index <= turn)',
    ...unit('cut-points', 'keeps no more than it may'),
  },
  {
    rule: 'the turn under way is not cut while it is not too long alone',
    file: compaction('cut-points'),
    from: 'if (turn !== undefined && (rest[turn] ?? 0) <= 2 * keep) return turn',
    to: '',
    ...unit('cut-points', 'leaves the turn under way whole'),
  },
  {
    rule: 'the question that is being answered is not summarised away',
    file: compaction('plan'),
    from: '?.content ?? summary?.question',
    to: '?.content',
    ...onStore('compaction', 'its rounds are summarised and its question stays'),
  },
  {
    rule: 'where a person has asked for a summary, nothing is left out without one',
    file: compaction('compacting'),
    from: 'input.asked ? undefined : planCompaction(transcript, { keep })',
    to: 'planCompaction(transcript, { keep })',
    ...onStore('compaction', 'is not replaced where a person has asked for it'),
  },
]
