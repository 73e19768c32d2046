/**
 * A conversation comes near the end of its model's window: what is summarised, who pays, and what happens when it
 * fails.
 */
import { describe, expect, it } from 'vitest'
import { compact } from '../../src/activities/compaction/compact.ts'
import { callModel } from '../../src/activities/model/call-model.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Message } from '../../src/core/message.ts'
import { foldChain } from '../../src/store/ledger/hashes.ts'
import { findSummary } from '../../src/store/transcript/load-transcript.ts'
import type { ModelOutcome } from '../../src/protocol/steps.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import { attempt, depsOf } from './activity.ts'
import { compaction, fake, nextCall, rounds, sessionWith, SUMMARY, talk, WORDS, type Reply } from './conversation.ts'
import { countRows, resetRun, write } from './fixtures.ts'
import { countStatements, useDatabase } from './postgres.ts'

const at = useDatabase()

describe('a prompt that nears the window', () => {
  it('is not sent: older messages are summarised first, and the records stay', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, [...talk(12), { role: 'user', content: 'now?' }], { llm: model.llm })
    expect(await session.call()).toEqual({ kind: 'full', gen: 0, refused: false, standsFor: 0 })
    expect(model.asked).toEqual([])
    const done = await session.compact({ standsFor: 0 })
    expect(done).toEqual({ kind: 'compacted', gen: 0, done: true, usage: { inputTokens: 0, outputTokens: 7 } })
    expect(await session.call()).toMatchObject({ kind: 'answered', text: 'fine' })
    const [first, second] = model.asked.at(-1)?.messages ?? []
    expect(first?.content).toContain(SUMMARY)
    expect(second).toMatchObject({ role: 'user' })
    expect(model.asked.at(-1)?.messages.at(-1)?.content).toBe('now?')
    expect([model.summaries(), model.answers()]).toEqual([1, 1])
    expect(await countRows(at.db, 'records', session.run.sessionId)).toBe(26)
    expect(await session.events()).toMatchObject([
      { why: 'full', cut: false, text: SUMMARY, model: 'm', turn: 9, round: 1 },
    ])
    const used = await at.db.pool.query(`select model from usage where session_id = $1 and step_key = 'c1'`, [
      session.run.sessionId,
    ])
    expect(used.rows).toEqual([{ model: 'm' }])
  })

  it('is paid once, whoever asks again', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, [...talk(12), { role: 'user', content: 'now?' }], { llm: model.llm })
    const outcomes = [await session.compact(), await session.compact()]
    expect(outcomes[0]).toEqual(outcomes[1])
    expect(model.summaries()).toBe(1)
  })

  it('is summarised again when it has grown: the new summary stands for the old one too', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    await session.compact()
    const { run } = session
    await write(at.db, run, 'b', 25, talk(12))
    const second = compaction(run, 48, { key: 'c2' })
    expect(await attempt(run, () => compact(session.deps, second))).toMatchObject({ done: true })
    expect(model.asked.at(-1)?.messages[1]?.content).toContain(`<earlier-summary>\n${SUMMARY}`)
    const found = await findSummary(at.db, { sessionId: run.sessionId, gen: 0, seq: 48 })
    expect(found?.standsFor).toBe(found?.at.seq)
    expect(found?.at.seq).toBeGreaterThan(30)
  })

  it('leaves the turn under way alone; if it is all there is, its rounds are summarised and its question stays', async () => {
    const model = fake(undefined, 3000)
    const question: Message = { role: 'user', content: 'Look at everything.' }
    const session = await sessionWith(at.db, [question, ...rounds(25)], { llm: model.llm })
    expect(await session.call()).toMatchObject({ kind: 'full' })
    await session.compact()
    expect(await session.call()).toMatchObject({ kind: 'answered' })
    const sent = model.asked.at(-1)?.messages ?? []
    expect(sent[0]?.content.endsWith('Look at everything.')).toBe(true)
    expect(sent[1]?.toolCalls).toHaveLength(1)
    // Once more: the question is not summarised away.
    const { run } = session
    await write(at.db, run, 'b', 53, rounds(15))
    await attempt(run, () => compact(session.deps, compaction(run, 82, { key: 'c2' })))
    await attempt(run, () => callModel(session.deps, nextCall(run, 82, { key: 'm9.2', round: 2, asIs: true })))
    expect(model.asked.at(-1)?.messages[0]?.content.endsWith('Look at everything.')).toBe(true)
  })

  it.each([
    ['is full', 3000],
    ['is refused', undefined],
  ] as const)('is asked when only the message that opens the turn may stay: its prompt %s', async (_why, window) => {
    const model = fake(({ summary, messages }) => {
      const short = messages.every(({ content }) => content.length < 1000)
      if (summary || window !== undefined || short) return {}
      throw new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long')
    }, window)
    const session = await sessionWith(at.db, [...talk(5), ...talk(1, 1500)], { llm: model.llm })
    const { deps, run } = session
    const opening = { key: 'm9.0', round: 0, opening: { messageId: 'm', text: 'now?' } }
    const called: ModelOutcome[] = []
    for (let n = 1; called.at(-1)?.kind !== 'answered' && n < 9; n++) {
      const refusals = called.filter((outcome) => outcome.kind === 'full' && outcome.refused).length
      const input = nextCall(run, 13, { ...opening, base: 12, refusals })
      const outcome = await attempt(run, () => callModel(deps, input))
      called.push(outcome)
      if (outcome.kind !== 'full') break
      const { standsFor } = outcome
      await attempt(run, () => compact(deps, compaction(run, 13, { key: `c${n}`, round: 0, refusals, standsFor })))
    }
    expect(called.at(-1)).toMatchObject({ kind: 'answered' })
    expect(model.asked.at(-1)?.messages).toHaveLength(2)
    expect(model.asked.at(-1)?.messages[0]?.content).toContain(SUMMARY)
    expect(model.asked.at(-1)?.messages[1]?.content).toBe('now?')
    // The next round reads the same summary, and the chain is that of the records.
    const { messages, summary, chain } = await deps.transcripts.read(at.db, {
      sessionId: run.sessionId,
      gen: 0,
      seq: 14,
    })
    expect([messages.length, summary?.standsFor]).toEqual([2, 12])
    const whole = await deps.transcripts.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 12 })
    expect(whole.messages.length).toBeGreaterThan(0)
    expect(chain).toBe(foldChain(await readOwnRecords(at.db, { sessionId: run.sessionId, gen: 0, seq: 14 })))
  })

  it('is read from the summary on: what it stands for is not read again', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    await session.compact()
    const fresh = depsOf(at.db, { llm: model.llm })
    const { messages, summary } = await fresh.transcripts.read(at.db, {
      sessionId: session.run.sessionId,
      gen: 0,
      seq: 24,
    })
    expect(summary?.standsFor).toBe(24 - messages.length)
    expect(messages.length).toBeLessThan(10)
    expect(
      await countStatements(() => fresh.transcripts.read(at.db, { sessionId: session.run.sessionId, gen: 0, seq: 24 })),
    ).toBe(0)
  })

  it('has the same chain of records with a summary and without one, so that a step stays the same step', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, talk(20), { llm: model.llm })
    const { sessionId } = session.run
    const before = (await session.deps.transcripts.read(at.db, { sessionId, gen: 0, seq: 40 })).chain
    await session.compact()
    const after = await session.deps.transcripts.read(at.db, { sessionId, gen: 0, seq: 40 })
    expect([after.chain, after.summary !== undefined]).toEqual([before, true])
  })
})

describe('a summary that cannot be made', () => {
  const failing: [string, Reply][] = [
    ['its model refuses for good', () => Promise.reject(new StelloError('MODEL_AUTH', 'who are you?'))],
    ['it is empty', () => ({ content: ' \n' })],
    ['it is too long', () => ({ content: WORDS.repeat(300) })],
    ['its model refuses to write it', () => ({ finishReason: 'refusal' })],
    [
      'its model finds everything too long',
      () => Promise.reject(new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long')),
    ],
  ]

  it.each(failing)('is replaced by a line that says so: %s', async (_why, reply) => {
    const model = fake((asked) => (asked.summary ? reply(asked) : {}), 3000)
    const session = await sessionWith(at.db, [...talk(12), { role: 'user', content: 'now?' }], { llm: model.llm })
    expect(await session.compact()).toMatchObject({ kind: 'compacted', done: true })
    expect(await session.call()).toMatchObject({ kind: 'answered' })
    expect(model.asked.at(-1)?.messages[0]?.content).toContain('They could not be summarised')
    expect(await session.events()).toMatchObject([{ cut: true }])
  })

  it('waits for the provider of the session as every model call does, and pauses the session when that takes too long', async () => {
    const busy = (): never => {
      throw new StelloError('MODEL_RATE_LIMITED', 'busy', { retryAfterMs: 90_000_000 })
    }
    const model = fake((asked) => (asked.summary ? busy() : {}), 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    expect(await session.compact()).toMatchObject({ kind: 'failed', pause: { reason: 'model_error' } })
    expect(await session.events()).toEqual([])
  })

  it('is tried again after a rewind: a failure of the time before is no answer', async () => {
    let busy = true
    const model = fake((asked) => {
      if (asked.summary && busy) throw new StelloError('MODEL_RATE_LIMITED', 'busy', { retryAfterMs: 90_000_000 })
      return {}
    }, 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    expect(await session.compact()).toMatchObject({ kind: 'failed' })
    busy = false
    const rewound = resetRun(session.run, 'reset', 24)
    // Another worker, which does not know that the provider was busy.
    const deps = depsOf(at.db, { llm: model.llm })
    expect(await attempt(rewound, () => compact(deps, compaction(rewound, 24)))).toMatchObject({
      kind: 'compacted',
      done: true,
    })
  })

  it('is given up after some minutes if another provider was to write it', async () => {
    const cheap = (): Promise<never> =>
      Promise.reject(new StelloError('MODEL_RATE_LIMITED', 'busy', { retryAfterMs: 600_000 }))
    const compaction = { model: { name: 'cheap', complete: cheap } }
    const session = await sessionWith(at.db, talk(12), { llm: fake(undefined, 3000).llm, compaction })
    expect(await session.compact()).toMatchObject({ kind: 'compacted', done: true })
    expect(await session.events()).toMatchObject([{ cut: true }])
  })

  it('is not replaced where a person has asked for it', async () => {
    const model = fake((asked) => (asked.summary ? { content: '' } : {}), 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    const asked = { asked: true as const }
    expect(await session.compact(asked)).toMatchObject({ kind: 'compacted', done: false })
    expect(await session.events()).toEqual([])
  })
})

describe('the count of the provider', () => {
  it('corrects the estimate of the next prompt', async () => {
    // Twice as many tokens as estimated: the prompt is full, although the estimate alone says that it is not.
    const model = fake((asked) => ({ usage: { inputTokens: asked.messages.length * 220, outputTokens: 1 } }), 3000)
    const session = await sessionWith(at.db, talk(5), { llm: model.llm })
    expect(await session.call()).toMatchObject({ kind: 'answered' })
    const { run, deps } = session
    const { density } = await deps.transcripts.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 11 })
    expect(density).toBeGreaterThan(1.5)
    await write(at.db, run, 'b', 12, [{ role: 'user', content: WORDS.repeat(10) }])
    const next = nextCall(run, 12, { key: 'm9.2', round: 2 })
    expect(await attempt(run, () => callModel(deps, next))).toMatchObject({ kind: 'full' })
    const fresh = depsOf(at.db, { llm: model.llm })
    expect((await fresh.transcripts.read(at.db, { sessionId: run.sessionId, gen: 0, seq: 12 })).density).toBeCloseTo(
      density ?? 0,
      4,
    )
  })
})
