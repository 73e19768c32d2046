/**
 * Models that answer what no model should answer: the step ends once, with few words, and nothing is asked again
 * without end.
 */
import { setImmediate } from 'node:timers/promises'
import { ApplicationFailure } from '@temporalio/common'
import { expect, it } from 'vitest'
import { callModel } from '../../src/activities/model/call-model.ts'
import { Gates } from '../../src/activities/model/gates.ts'
import { ANSWER_LIMIT } from '../../src/activities/model/answer-size.ts'
import { StelloError } from '../../src/core/errors.ts'
import type { CompleteOptions, Completion } from '../../src/core/model.ts'
import type { ModelOutcome } from '../../src/protocol/steps.ts'
import { attempt, depsOf } from './activity.ts'
import { openSession } from './fixtures.ts'
import { openingCall } from './model-input.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const LONG = 'x'.repeat(5 * 1024 * 1024)
const good: Completion = {
  content: 'hi',
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  finishReason: 'stop',
}

interface Asked {
  /** What the workflow is told, or how long Temporal waits before the next attempt. */
  outcome: ModelOutcome | { retryInMs: unknown }
  calls: number
}

/** One attempt after another, as Temporal makes them, until the workflow is told something. */
async function ask(complete: (options: CompleteOptions) => unknown, retryFor = '24 hours'): Promise<Asked> {
  let calls = 0
  const llm = {
    name: 'odd',
    complete: async (_messages: unknown, options: CompleteOptions = {}) => (
      calls++,
      (await complete(options)) as Completion
    ),
  }
  const deps = depsOf(at.db, { llm, retryFor })
  const run = await openSession(at.db)
  for (let tried = 1; ; tried++) {
    try {
      const outcome = await attempt(run, () => callModel({ ...deps, gates: new Gates() }, openingCall(run)))
      expect(JSON.stringify(outcome).length).toBeLessThan(4096)
      return { outcome, calls }
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error
      expect(error.message.length).toBeLessThanOrEqual(1000)
      if (tried === 10) return { outcome: { retryInMs: error.nextRetryDelay }, calls }
    }
  }
}

const pausesWith = (message: unknown): object => ({ kind: 'failed', pause: { reason: 'model_error', message } })
const throwing = (error: unknown) => () => Promise.reject(error)

it.each([
  ['an error of 5 MB', new Error(LONG)],
  ['an object without a string form', Object.create(null)],
  ['a code of its own', Object.assign(new Error('x'), { name: 'StelloError', code: LONG, fate: 'retry' })],
])('A model that throws %s is waited for like any other', async (_what, thrown) => {
  expect(await ask(throwing(thrown))).toMatchObject({ outcome: { retryInMs: expect.any(Number) as number }, calls: 10 })
})

it.each([
  ['a bug of 5 MB', new RangeError(LONG), 6],
  ['a pause of 5 MB', new StelloError('MODEL_AUTH', LONG, { hint: LONG }), 1],
])('A model that throws %s is given up', async (_what, thrown, attempts) => {
  expect(await ask(throwing(thrown))).toMatchObject({ outcome: pausesWith(expect.any(String)), calls: attempts })
})

it('A wait of a year pauses the session at once, and says how long it would be', async () => {
  const busy = new StelloError('MODEL_RATE_LIMITED', 'too fast', { retryAfterMs: 365 * 86_400_000 })
  const message = 'too fast (it asks to wait 365 days, and retryFor leaves 1 day)'
  expect(await ask(throwing(busy))).toMatchObject({ outcome: pausesWith(message), calls: 1 })
  const endless = new StelloError('MODEL_RATE_LIMITED', 'too fast', { retryAfterMs: Infinity })
  expect(await ask(throwing(endless))).toMatchObject({
    outcome: pausesWith(expect.stringMatching('without end')),
    calls: 1,
  })
})

it('A wait that the agent allows is kept, and a longer one is not', async () => {
  const busy = new StelloError('MODEL_UNAVAILABLE', 'busy', { retryAfterMs: 7000 })
  expect((await ask(throwing(busy), '9 seconds')).outcome).toMatchObject({ retryInMs: expect.any(Number) as number })
  expect((await ask(throwing(busy), '6 seconds')).calls).toBe(1)
})

it.each([
  ['nothing', undefined],
  ['no calls', { ...good, toolCalls: undefined }],
  ['tokens that are not a number', { ...good, usage: { inputTokens: NaN, outputTokens: 1 } }],
  ['a circular answer', { ...good, content: Object.assign([], { 0: good }) }],
  ['an answer without end', { ...good, content: 'x'.repeat(ANSWER_LIMIT) }],
  [
    'a getter that throws',
    Object.defineProperty({ ...good }, 'usage', {
      get: () => {
        throw new Error('no')
      },
    }),
  ],
])('A model that answers %s is asked once, and the pause says what is wrong', async (_what, answer) => {
  expect(await ask(() => answer)).toMatchObject({
    outcome: pausesWith(expect.stringMatching('^model odd: ')),
    calls: 1,
  })
})

it('Unknown fields of an answer reach neither the workflow nor the store', async () => {
  const usage = { inputTokens: 1, outputTokens: 1, raw: LONG }
  expect((await ask(() => ({ ...good, usage }))).outcome).toMatchObject({
    kind: 'answered',
    usage: { inputTokens: 1, outputTokens: 1 },
  })
})

it('A model that streams without end is broken off and told so, and is not asked again', async () => {
  let tell = (_reason: unknown): void => undefined
  const aborted = new Promise<unknown>((resolve) => (tell = resolve))
  const { outcome, calls } = await ask(async ({ signal, onDelta }) => {
    while (!signal?.aborted) {
      onDelta?.({ type: 'text', text: 'and so on '.repeat(10_000) })
      onDelta?.({ type: 'toolCall', index: 0, id: 'a', name: 'f', arguments: 'x' })
      await setImmediate()
    }
    tell(signal.reason)
    return new Promise(() => undefined)
  })
  expect([outcome, calls]).toMatchObject([pausesWith(expect.stringMatching('grew beyond 4 Mi characters')), 1])
  expect(await aborted).toMatchObject({ code: 'MODEL_BAD_ANSWER' })
})

it('Invalid pieces of an answer are left out, and nothing else is', async () => {
  const odd = [
    null,
    'text',
    { type: 'text', text: 5n },
    { type: 'text' },
    { type: 'toolCall', index: 1e9, arguments: '' },
    { type: 'toolCall', index: 0 },
  ]
  const { outcome } = await ask(({ onDelta }) => {
    for (const piece of odd) onDelta?.(piece as never)
    return good
  })
  expect(outcome).toMatchObject({ kind: 'answered', text: 'hi' })
})
