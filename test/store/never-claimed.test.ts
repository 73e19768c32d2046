/**
 * Temporal gives up a step before any worker has claimed it. The cause is a lock on a table of the store, such as that
 * of `vacuum full`, that lasts longer than the time of the step. A later claim writes what the first claim would have
 * written.
 */
import { describe, expect, it } from 'vitest'
import { announce } from '../../src/activities/session/announce.ts'
import { callModel } from '../../src/activities/model/call-model.ts'
import type { Deps } from '../../src/activities/deps.ts'
import { settleModel } from '../../src/activities/model/settle-model.ts'
import type { CallModelInput, ModelOutcome, ToolOutcome } from '../../src/protocol/steps.ts'
import { readOwnRecords } from '../../src/store/transcript/records.ts'
import type { RunRef } from '../../src/store/ledger/abandon-future.ts'
import { readTurn } from '../../src/store/transcript/turns.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { attempt, depsOf } from './activity.ts'
import { claim, countRows, openSession, opening, placeAt, resetRun } from './fixtures.ts'
import { useDatabase } from './postgres.ts'
import { readEvents } from '../support/events.ts'

const at = useDatabase()

interface Step {
  run: RunRef
  llm: ScriptedModel
  deps: Deps
  input: CallModelInput
}

async function openingStep(): Promise<Step> {
  const run = await openSession(at.db)
  const llm = scriptedModel(({ messages }) => `answer to ${messages.at(-1)?.content}`)
  const input: CallModelInput = {
    sessionId: run.sessionId,
    key: 'm1.0',
    gen: 0,
    turn: 1,
    base: 0,
    place: placeAt(1),
    messageId: 'm',
    round: 0,
    upTo: 1,
    opening: { messageId: 'm', text: 'hello' },
    last: false,
  }
  return { run, llm, deps: depsOf(at.db, { llm }), input }
}

const asked = ({ run, deps, input }: Step): Promise<ModelOutcome> => attempt(run, () => callModel(deps, input))
const lost = ({ run, deps, input: step }: Step, kind: 'cancelled' | 'timedOut'): Promise<ModelOutcome | ToolOutcome> =>
  attempt(run, () => settleModel(deps, { step, proposed: kind }))
const ended = ({ run, deps, input }: Step): Promise<unknown> => {
  const endTurn = { stopReason: 'cancelled', rounds: 0, opening: { messageId: 'm', text: 'hello', seq: 1 } } as const
  return attempt(run, () => announce(deps, { ...input, key: 'a1', told: 1, events: [], endTurn }))
}

const typesOf = async ({ run }: Step): Promise<string[]> =>
  (await readEvents(at.db, run.sessionId, 0)).map(({ type }) => type)
const contents = async ({ run: { sessionId } }: Step, gen: number, seq: number): Promise<string[]> =>
  (await readOwnRecords(at.db, { sessionId, gen, seq })).map(({ message }) => message.content)

describe('a model call that opens a turn, given up by Temporal before it was claimed', () => {
  it.each([
    ['in the first line of history', 0],
    ['in the line of a reset', 1],
  ])('is asked after the resume with its message in the transcript, %s', async (_where, gen) => {
    const first = await openingStep()
    const step = gen === 0 ? first : { ...first, run: resetRun(first.run, 'run-2', 1) }
    expect(await lost(step, 'timedOut')).toMatchObject({ kind: 'failed', pause: { reason: 'model_error' } })
    expect(await asked(step)).toMatchObject({ kind: 'answered', gen, text: 'answer to hello', seq: 2 })
    expect(await contents(step, gen, 2)).toEqual(['hello', 'answer to hello'])
    expect(await readTurn(at.db, { sessionId: step.run.sessionId, gen }, 'm')).toMatchObject({
      status: 'ended',
      text: 'answer to hello',
    })
    expect((await typesOf(step)).slice(gen)).toEqual(['turn.started', 'message.completed', 'turn.completed'])
  })

  it('is not asked again in the line of a reset if the line before has its answer', async () => {
    const step = await openingStep()
    await asked(step)
    const again = { ...step, run: resetRun(step.run, 'run-2', 1) }
    await lost(again, 'timedOut')
    expect(await asked(again)).toMatchObject({ kind: 'answered', gen: 1, text: 'answer to hello' })
    expect(step.llm.calls).toHaveLength(1)
    expect(await contents(again, 1, 2)).toEqual(['hello', 'answer to hello'])
    expect(await readTurn(at.db, { sessionId: step.run.sessionId, gen: 1 }, 'm')).toMatchObject({
      gen: 1,
      status: 'ended',
    })
    expect(await typesOf(again)).toEqual(['session.rewound', 'turn.started', 'message.completed', 'turn.completed'])
  })

  it('leaves its message in the transcript when the turn is cancelled or closed instead', async () => {
    const step = await openingStep()
    await lost(step, 'timedOut')
    expect(await lost(step, 'cancelled')).toEqual({ kind: 'cancelled', gen: 0 })
    await ended(step)
    expect(await contents(step, 0, 1)).toEqual(['hello'])
    expect(await readTurn(at.db, { sessionId: step.run.sessionId, gen: 0 }, 'm')).toMatchObject({
      status: 'ended',
      stopReason: 'cancelled',
    })
    expect(await typesOf(step)).toEqual(['turn.started', 'turn.completed'])
  })

  it('is not asked for a message that another turn has answered', async () => {
    const step = await openingStep()
    await claim(at.db, step.run, { key: 'm7.0', opening: opening(7, 'm', 7) })
    await lost(step, 'timedOut')
    expect(await asked(step)).toEqual({ kind: 'duplicate', gen: 0 })
    expect(step.llm.calls).toHaveLength(0)
    expect(await countRows(at.db, 'turns', step.run.sessionId)).toBe(1)
  })
})

it('the answer of a line of history without a record of the question is taken over together with the question', async () => {
  const step = await openingStep()
  await asked(step)
  const { sessionId } = step.run
  await at.db.pool.query('delete from records where session_id = $1 and seq = 1', [sessionId])
  await at.db.pool.query('delete from turns where session_id = $1', [sessionId])
  await at.db.pool.query(`delete from events where session_id = $1 and type = 'turn.started'`, [sessionId])
  const again = { ...step, run: resetRun(step.run, 'run-2', 1) }
  expect(await asked(again)).toMatchObject({ kind: 'answered', gen: 1 })
  expect(await contents(again, 1, 2)).toEqual(['hello', 'answer to hello'])
  expect(await readTurn(at.db, { sessionId, gen: 1 }, 'm')).toMatchObject({ gen: 1, turn: 1 })
  expect(await typesOf(again)).toContain('turn.started')
})
