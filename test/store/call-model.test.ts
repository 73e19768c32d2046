/**
 * A model that is busy or away: how often it is asked, how long is waited in between, and when that is given up. And who is
 * said to have answered.
 */
import { ApplicationFailure } from '@temporalio/common'
import { expect, it } from 'vitest'
import { callModel } from '../../src/activities/model/call-model.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Completion } from '../../src/core/model.ts'
import type { ModelOutcome } from '../../src/protocol/steps.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession } from './fixtures.ts'
import { openingCall } from './model-input.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()

/** A step of which each attempt says how long until the next one, or what the workflow is told. */
async function stepWith(error: StelloError): Promise<{ calls(): number; next(): Promise<unknown> }> {
  let calls = 0
  const complete = (): Promise<never> => (calls++, Promise.reject(error))
  const deps = depsOf(at.db, { llm: { name: 'away', complete } })
  const run = await openSession(at.db)
  const next = (): Promise<ModelOutcome> => attempt(run, () => callModel(deps, openingCall(run)))
  return {
    calls: () => calls,
    next: () =>
      next().catch((thrown: unknown) => {
        if (thrown instanceof ApplicationFailure && !thrown.nonRetryable) return thrown.nextRetryDelay
        throw thrown
      }),
  }
}

it('is asked six times, after pauses that double from a second; then the session pauses, and resume begins anew', async () => {
  const step = await stepWith(new StelloError('MODEL_UNAVAILABLE', 'nobody is there', { hint: 'wait' }))
  const pauses = { kind: 'failed', pause: { reason: 'model_error', message: 'nobody is there', hint: 'wait' } }
  const six = [1000, 2000, 4000, 8000, 16_000, pauses]
  for (const expected of [...six, ...six]) expect(await step.next()).toEqual(expected)
  expect(step.calls()).toBe(12)
})

it('is asked again when it has said it may be', async () => {
  const step = await stepWith(new StelloError('MODEL_RATE_LIMITED', 'too fast', { retryAfterMs: 7000 }))
  expect([await step.next(), await step.next()]).toEqual([7000, 7000])
})

it('is asked once where waiting mends nothing', async () => {
  const step = await stepWith(new StelloError('MODEL_AUTH', 'who are you?'))
  expect(await step.next()).toMatchObject({ kind: 'failed', pause: { reason: 'model_error' } })
  expect(step.calls()).toBe(1)
})

it.each([
  ['another model answered than was asked', 'm-2026-01-01', 'm-2026-01-01'],
  ['the model does not say who answered', undefined, 'm'],
])('record, usage and event tell who answered, when %s', async (_when, model, by) => {
  const usage = { inputTokens: 1, outputTokens: 2 }
  const answer: Completion = { content: 'hi', toolCalls: [], usage, finishReason: 'stop', ...(model && { model }) }
  const deps = depsOf(at.db, { llm: { name: 'm', complete: () => Promise.resolve(answer) } })
  const run = await openSession(at.db)
  expect(await attempt(run, () => callModel(deps, openingCall(run)))).toMatchObject({ kind: 'answered' })
  const rows = async (sql: string): Promise<unknown> => (await at.db.pool.query(sql, [run.sessionId])).rows
  expect(await rows('select model from usage where session_id = $1')).toEqual([{ model: by }])
  expect(
    await rows(`select data->>'model' as model from events where session_id = $1 and type = 'message.completed'`),
  ).toEqual([{ model: by }])
  expect(await rows(`select message->>'model' as model from records where session_id = $1 and seq = 2`)).toEqual([
    { model: model ?? null },
  ])
})
