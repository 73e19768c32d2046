/** Which summaries are read: by forks, after a rewind, and after a provider has refused a prompt. */
import { describe, expect, it } from 'vitest'
import { compact } from '../../src/activities/compaction/compact.ts'
import { callModel } from '../../src/activities/model/call-model.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Message } from '../../src/core/message.ts'
import type { ModelOutcome } from '../../src/protocol/steps.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { findSummary } from '../../src/store/transcript/load-transcript.ts'
import { resolveRun } from '../../src/store/ledger/runs.ts'
import { attempt, depsOf } from './activity.ts'
import { compaction, fake, nextCall, sessionWith, talk, WORDS, type Reply } from './conversation.ts'
import { countRows, openSession, resetRun, write } from './fixtures.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

describe('a fork', () => {
  it('finds the summary of what it inherits, and makes one for its parent and all other forks', async () => {
    const model = fake(undefined, 3000)
    const parent = await openSession(at.db)
    await write(at.db, parent, 'a', 1, talk(12))
    const branch = { sessionId: parent.sessionId, gen: 0, seq: 24 }
    const forks = [1, 2].map(() => openSession(at.db, { parentId: parent.sessionId, branch, depth: 1 }))
    const [first, second] = await Promise.all(forks)
    if (!first || !second) throw new Error('no forks')
    const deps = depsOf(at.db, { llm: model.llm })
    for (const run of [first, second]) await write(at.db, run, 'a', 1, [{ role: 'user', content: 'go on' }])
    const call = (run: RunRef): Promise<ModelOutcome> => attempt(run, () => callModel(deps, nextCall(run, 1)))
    expect(await call(first)).toMatchObject({ kind: 'full' })
    await attempt(first, () => compact(deps, compaction(first, 1, { standsFor: 0 })))
    expect(await call(first)).toMatchObject({ kind: 'answered' })
    expect(await call(second)).toMatchObject({ kind: 'answered' })
    expect(model.summaries()).toBe(1)
    expect(await countRows(at.db, 'summaries', parent.sessionId)).toBe(1)
    expect(await countRows(at.db, 'summaries', first.sessionId)).toBe(0)
  })

  it('is asked when all that it inherits is summarised: only its own records come after the summary', async () => {
    const model = fake(undefined, 3000)
    const parent = await openSession(at.db)
    await write(at.db, parent, 'a', 1, [...talk(5), ...talk(1, 1500)])
    const branch = { sessionId: parent.sessionId, gen: 0, seq: 12 }
    const fork = await openSession(at.db, { parentId: parent.sessionId, branch, depth: 1 })
    const deps = depsOf(at.db, { llm: model.llm })
    const input = nextCall(fork, 1, { base: 0, key: 'm9.0', round: 0, opening: { messageId: 'm', text: 'now?' } })
    const called: ModelOutcome[] = []
    for (let n = 1; n < 9; n++) {
      const outcome = await attempt(fork, () => callModel(deps, input))
      called.push(outcome)
      if (outcome.kind !== 'full') break
      const { standsFor } = outcome
      await attempt(fork, () => compact(deps, compaction(fork, 1, { key: `c${n}`, round: 0, standsFor })))
    }
    expect(called.at(-1)).toMatchObject({ kind: 'answered' })
    const later = await deps.transcripts.read(at.db, { sessionId: fork.sessionId, gen: 0, seq: 2 })
    expect([later.messages.length, later.summary?.standsFor]).toEqual([2, 12])
    const before = await deps.transcripts.read(at.db, { sessionId: fork.sessionId, gen: 0, seq: 0 })
    expect(before.chain).toBe(
      (await deps.transcripts.read(at.db, { sessionId: parent.sessionId, gen: 0, seq: 12 })).chain,
    )
  })

  it('pays nothing if another fork made the summary first', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    await session.compact({ standsFor: 0 })
    expect(await session.compact({ key: 'c2', standsFor: 0 })).toMatchObject({ done: true })
    expect(model.summaries()).toBe(1)
  })

  it('of an older place does not read a summary of later records', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, talk(12), { llm: model.llm })
    await session.compact()
    const branch = { sessionId: session.run.sessionId, gen: 0, seq: 4 }
    const child = await openSession(at.db, { parentId: session.run.sessionId, branch, depth: 1 })
    const { messages, summary } = await session.deps.transcripts.read(at.db, {
      sessionId: child.sessionId,
      gen: 0,
      seq: 0,
    })
    expect([messages.length, summary]).toEqual([4, undefined])
  })
})

describe('a rewind', () => {
  it('to a place before the summary leaves it behind; a rewind to a place after it keeps it', async () => {
    const model = fake(undefined, 3000)
    const session = await sessionWith(at.db, talk(20), { llm: model.llm })
    await session.compact()
    const { run } = session
    const upTo = (await findSummary(at.db, { sessionId: run.sessionId, gen: 0, seq: 40 }))?.at.seq ?? 0
    expect(upTo).toBeGreaterThan(10)
    const after = resetRun(run, 'after', upTo + 2)
    expect(await resolveRun(at.db, after)).toMatchObject({ gen: 1 })
    expect(await findSummary(at.db, { sessionId: run.sessionId, gen: 1, seq: 40 })).toBeDefined()
    const before = resetRun(run, 'before', upTo - 4)
    expect(await resolveRun(at.db, before)).toMatchObject({ gen: 2 })
    expect(await findSummary(at.db, { sessionId: run.sessionId, gen: 2, seq: 40 })).toBeUndefined()
  })
})

describe('a provider that refuses a prompt', () => {
  it('is asked again with a shorter one, although nobody knows its window', async () => {
    const tokens = (messages: Message[]): number => messages.reduce((sum, { content }) => sum + content.length / 4, 0)
    const refusing: Reply = ({ messages }) => {
      if (tokens(messages) > 1500) throw new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long')
      return {}
    }
    const model = fake(refusing)
    const session = await sessionWith(at.db, [...talk(12), { role: 'user', content: 'now?' }], { llm: model.llm })
    let refusals = 0
    for (let n = 1; ; n++) {
      const outcome = await session.call({ refusals })
      if (outcome.kind === 'answered') break
      expect(outcome).toMatchObject({ kind: 'full', refused: true })
      refusals++
      await session.compact({ key: `c${n}`, refusals })
    }
    // The model that summarises is refused too, and then reads half as much at once.
    expect(refusals).toBe(2)
    expect(await session.events()).toMatchObject([
      { why: 'refused', cut: false },
      { why: 'refused', cut: false },
    ])
  })

  it('pauses the session with a hint when one message alone is too long', async () => {
    const refusing: Reply = () => Promise.reject(new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long'))
    const session = await sessionWith(at.db, [{ role: 'user', content: WORDS }], { llm: fake(refusing).llm })
    expect(await session.call()).toMatchObject({ kind: 'full', refused: true })
    expect(await session.compact({ refusals: 1 })).toMatchObject({ kind: 'compacted', done: false })
    expect(await session.call({ refusals: 1, asIs: true })).toMatchObject({
      kind: 'failed',
      pause: { reason: 'model_error', hint: expect.stringContaining('longer window') },
    })
  })

  it('pauses the session at once if the agent leaves conversations as they are', async () => {
    const refusing: Reply = () => Promise.reject(new StelloError('MODEL_CONTEXT_TOO_LONG', 'too long'))
    const session = await sessionWith(at.db, talk(5), { llm: fake(refusing).llm, compaction: false })
    expect(await session.call()).toMatchObject({ kind: 'failed', pause: { message: 'too long' } })
  })
})
