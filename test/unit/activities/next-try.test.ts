import { expect, it } from 'vitest'
import { waitOf, withNextTry } from '../../../src/activities/next-try.ts'
import { createStelloAgent, type AgentDefinition } from '../../../src/agent/agent.ts'
import { StelloError, type ErrorCode } from '../../../src/core/errors.ts'
import { toPause } from '../../../src/core/pause.ts'
import type { SettleModelInput } from '../../../src/protocol/steps.ts'
import { scriptedModel } from '../../../src/testing/index.ts'

const MINUTE = 60_000
const agent = (autoResume?: AgentDefinition['autoResume']) =>
  createStelloAgent({ name: 'test', llm: scriptedModel([]), ...(autoResume !== undefined && { autoResume }) })

/** Minutes until the next try; undefined if there is none. */
function minutes(code: ErrorCode, autoResume?: AgentDefinition['autoResume'], tries = 0): number | undefined {
  const waitMs = waitOf(toPause(new StelloError(code, 'no')), agent(autoResume).autoResume, tries)
  return waitMs === undefined ? undefined : waitMs / MINUTE
}

it.each<[ErrorCode, AgentDefinition['autoResume'], number | undefined]>([
  ['MODEL_UNAVAILABLE', undefined, 15],
  ['MODEL_RATE_LIMITED', undefined, 15],
  ['TOOLS_UNAVAILABLE', undefined, 15],
  ['MODEL_AUTH', undefined, undefined],
  ['MODEL_AUTH', true, 15],
  ['MODEL_AUTH', { keys: true, first: '2 minutes' }, 2],
  ['MODEL_UNAVAILABLE', { keys: true }, 15],
  ['MODEL_UNAVAILABLE', false, undefined],
  ['MODEL_UNAVAILABLE', { weather: false }, undefined],
  ['MODEL_REFUSED_REQUEST', true, undefined],
  ['STORE_CORRUPT', true, undefined],
])('%s with %j is tried again after so many minutes', (code, autoResume, expected) => {
  expect(minutes(code, autoResume)).toBe(expected)
})

it('waits longer after each try, up to an hour', () => {
  expect([0, 1, 2, 3, 500].map((tries) => minutes('MODEL_UNAVAILABLE', undefined, tries))).toEqual([15, 30, 60, 60, 60])
  expect(minutes('MODEL_UNAVAILABLE', { first: '2 hours' }, 3)).toBe(120)
})

it('reads the number of tries from the step, wherever it stands', () => {
  const outcome = { kind: 'failed', pause: toPause(new StelloError('MODEL_UNAVAILABLE', 'no')) } as const
  const step = { tries: 1 } as SettleModelInput['step']
  for (const input of [step, { step, proposed: 'timedOut' as const }]) {
    expect(withNextTry({ agent: agent() }, input, outcome)).toEqual({ ...outcome, nextTryMs: 30 * MINUTE })
  }
  expect(withNextTry({ agent: agent() }, step, { kind: 'cancelled' })).toEqual({ kind: 'cancelled' })
})

it.each([
  [3, 'autoResume: must be true, false or an object'],
  [{ wether: true }, 'autoResume.wether: is no setting'],
  [{ keys: 'yes' }, 'autoResume.keys: must be true or false'],
  [{ first: 'soon' }, "autoResume.first: 'soon' is not a duration"],
])('refuses %j, naming the field', (autoResume, problem) => {
  expect(() => agent(autoResume as never)).toThrow(problem)
})
