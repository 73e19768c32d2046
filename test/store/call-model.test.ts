/**
 * A model that is busy or away: how often it is asked, how long the waits are, and when the session gives up. And who
 * is named as the one that answered.
 */
import { ApplicationFailure } from '@temporalio/common'
import { expect, it } from 'vitest'
import { countableOf } from '../../src/activities/metrics.ts'
import { callModel } from '../../src/activities/model/call-model.ts'
import { Gates } from '../../src/activities/model/gates.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { Completion, Model } from '../../src/core/model.ts'
import { fallback } from '../../src/models/fallback.ts'
import type { ModelOutcome } from '../../src/protocol/steps.ts'
import { listSessions } from '../../src/store/sessions/sessions.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession } from './fixtures.ts'
import { openingCall } from './model-input.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const ANSWER: Completion = {
  content: 'hi',
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 2 },
  finishReason: 'stop',
}

/**
 * Attempts at a step. Each says how long until the next one, or what the workflow is told. Each is made by a worker
 * that knows nothing about the provider, unless `gates` are kept.
 */
async function stepWith(
  error: unknown,
  { retryFor = '24 hours', gates }: { retryFor?: string; gates?: Gates } = {},
): Promise<{ calls(): number; next(): Promise<unknown>; failedFor(time: string): Promise<void> }> {
  let calls = 0
  const complete = (): Promise<never> => (calls++, Promise.reject(error as Error))
  const deps = depsOf(at.db, { llm: { name: 'away', complete }, retryFor })
  const run = await openSession(at.db)
  const next = (): Promise<ModelOutcome> =>
    attempt(run, () => callModel({ ...deps, gates: gates ?? new Gates() }, openingCall(run)))
  return {
    calls: () => calls,
    next: () =>
      next().catch((thrown: unknown) => {
        if (thrown instanceof ApplicationFailure && !thrown.nonRetryable) return thrown.nextRetryDelay
        throw thrown
      }),
    async failedFor(time) {
      await at.db.pool.query('update steps set failing_since = failing_since - $2::interval where session_id = $1', [
        run.sessionId,
        time,
      ])
    },
  }
}

const UNAVAILABLE = new StelloError('MODEL_UNAVAILABLE', 'nobody is there', { hint: 'wait' })
const PAUSES = {
  kind: 'failed',
  pause: { reason: 'model_error', message: 'nobody is there', hint: 'wait', clears: 'weather' },
}

it('is waited for, with pauses that double from a second; after retryFor the session pauses, and resume begins anew', async () => {
  const step = await stepWith(UNAVAILABLE)
  for (let round = 0; round < 2; round++) {
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 96_000, 96_000]) {
      const delay = (await step.next()) as number
      expect(delay).toBeGreaterThanOrEqual(wait)
      expect(delay).toBeLessThanOrEqual(wait * 1.25)
    }
    await step.failedFor('23 hours')
    expect(await step.next()).toBeGreaterThan(0)
    await step.failedFor('1 hour')
    expect(await step.next()).toMatchObject(PAUSES)
  }
})

it('is tried for the last time when retryFor is over', async () => {
  const step = await stepWith(UNAVAILABLE, { retryFor: '20 minutes' })
  await step.next()
  await step.failedFor('19 minutes 59.8 seconds')
  expect(await step.next()).toBeLessThanOrEqual(200)
})

it('is tried six times if the fault is a bug of its own code', async () => {
  const step = await stepWith(new TypeError('x is not a function'))
  const paused = { kind: 'failed', pause: { reason: 'model_error', message: 'x is not a function' } }
  for (const expected of [1000, 2000, 4000, 8000, 16_000]) expect(await step.next()).toBe(expected)
  expect(await step.next()).toMatchObject(paused)
})

it('is waited for if fetch reaches nobody', async () => {
  const step = await stepWith(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }))
  for (let tries = 0; tries < 10; tries++) expect(await step.next()).toBeGreaterThanOrEqual(100)
})

it('is asked again when it has said that it may be', async () => {
  const step = await stepWith(new StelloError('MODEL_RATE_LIMITED', 'too fast', { retryAfterMs: 60_000 }))
  const delays = [await step.next(), await step.next()] as number[]
  // It comes back a little before that, and stands in line.
  for (const delay of delays) expect(delay).toBeGreaterThan(54_000)
  for (const delay of delays) expect(delay).toBeLessThanOrEqual(60_000)
})

it('is not asked while its provider is away: the session waits outside, and people see what it waits for', async () => {
  const step = await stepWith(new StelloError('MODEL_UNAVAILABLE', 'busy', { status: 503, retryAfterMs: 60_000 }), {
    gates: new Gates(),
  })
  for (let tries = 0; tries < 3; tries++) expect(await step.next()).toBeGreaterThan(50_000)
  expect(step.calls()).toBe(1)
  const [session] = await listSessions(at.db)
  expect(session).toMatchObject({ state: 'waiting', inHand: [], weather: { provider: 'away', why: '503' } })
  expect((session?.weather?.nextTry.getTime() ?? 0) - Date.now()).toBeGreaterThan(50_000)
  const told = await at.db.pool.query(`select data from events where type = 'model.waiting' and session_id = $1`, [
    session?.id,
  ])
  expect(told.rows).toMatchObject([{ data: { turn: 1, round: 0, provider: 'away', why: '503' } }])
  await step.failedFor('24 hours')
  expect(await step.next()).toMatchObject({ kind: 'failed', pause: { message: 'away has been away for 1 day: 503' } })
  expect((await listSessions(at.db))[0]?.weather).toBeUndefined()
})

it('is not waited for if it has named another session a wait that is longer than retryFor leaves to this one', async () => {
  const gates = new Gates()
  const busy = new StelloError('MODEL_RATE_LIMITED', 'busy', { status: 429, retryAfterMs: 7_200_000 })
  const [other, step] = [await stepWith(busy, { gates }), await stepWith(busy, { gates })]
  await other.next()
  expect(await step.next()).toBeGreaterThan(7_000_000)
  await step.failedFor('23 hours')
  const message = expect.stringMatching(
    /^away \(429\) asks to wait 2 hours, and retryFor leaves (1 hour|60 minutes)$/,
  ) as string
  expect(await step.next()).toMatchObject({ kind: 'failed', pause: { message } })
  expect(step.calls()).toBe(0)
})

it('whose session was closed meanwhile does not wait for it', async () => {
  const gates = new Gates()
  const step = await stepWith(new StelloError('MODEL_UNAVAILABLE', 'busy', { status: 503, retryAfterMs: 60_000 }), {
    gates,
  })
  await step.next()
  await at.db.pool.query('update sessions set closing_at = now()')
  expect(await step.next()).toEqual({ kind: 'notStarted', closing: true })
})

it('gives way to its fallback when it fails one step for too long, whatever it answers to others', async () => {
  const asked: string[] = []
  const first: Model = {
    name: 'a',
    complete: () => (asked.push('a'), Promise.reject(new StelloError('MODEL_UNAVAILABLE', '500'))),
  }
  const second: Model = { name: 'b', complete: () => (asked.push('b'), Promise.resolve(ANSWER)) }
  const counted: string[] = []
  const made = depsOf(at.db, { llm: fallback([first, second], { after: '30s' }) })
  const model = (name: string, { kind }: ModelOutcome): void => void counted.push(`${kind} by ${name}`)
  const deps = { ...made, metrics: { ...made.metrics, model } }
  const run = await openSession(at.db)
  // A worker that takes the first model for well each time.
  const next = (): Promise<ModelOutcome> =>
    attempt(run, () => callModel({ ...deps, gates: new Gates() }, openingCall(run)))
  await expect(next()).rejects.toThrow('waits for a: 500')
  await expect(next()).rejects.toThrow('waits for a: 500')
  await at.db.pool.query(
    `update steps set failing_since = failing_since - interval '30 seconds' where session_id = $1`,
    [run.sessionId],
  )
  expect(await next()).toMatchObject({ kind: 'answered' })
  expect([asked, counted, countableOf(deps.agent).models]).toEqual([['a', 'a', 'b'], ['answered by b'], ['a', 'b']])
  const { rows } = await at.db.pool.query(
    `select message->>'model' as record, (select model from usage where session_id = $1) as usage from records where session_id = $1 and seq = 2`,
    [run.sessionId],
  )
  expect(rows).toEqual([{ record: 'b', usage: 'b' }])
})

it('whose gate was closed for a moment is asked in the same attempt', async () => {
  let away = true
  const busy = new StelloError('MODEL_UNAVAILABLE', 'busy', { status: 503, retryAfterMs: 50 })
  const deps = depsOf(at.db, {
    llm: { name: 'm', complete: () => (away ? Promise.reject(busy) : Promise.resolve(ANSWER)) },
  })
  const run = await openSession(at.db)
  const next = (): Promise<ModelOutcome> => attempt(run, () => callModel(deps, openingCall(run)))
  await expect(next()).rejects.toThrow('waits for m: 503')
  away = false
  expect(await next()).toMatchObject({ kind: 'answered', text: 'hi' })
})

it('is asked once if waiting mends nothing', async () => {
  const step = await stepWith(new StelloError('MODEL_AUTH', 'who are you?'))
  expect(await step.next()).toMatchObject({ kind: 'failed', pause: { reason: 'model_error' } })
  expect(step.calls()).toBe(1)
})

it.each([
  ['another model answered than was asked', 'm-2026-01-01', 'm-2026-01-01'],
  ['the model does not say who answered', undefined, 'm'],
])('record, usage and event name the model that answered, when %s', async (_when, model, by) => {
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
