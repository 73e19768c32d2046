/** EnterPlanMode and ExitPlanMode as a model meets them. */
import { expect, it } from 'vitest'
import { planning } from '../../../../src/capabilities/index.ts'
import type { PersonAnswer } from '../../../../src/index.ts'
import { MODE_VALUE } from '../../../../src/tool/session-values.ts'
import { callToolOf } from '../call-tool-of.ts'
import { testContext } from '../test-context.ts'

function usePlanMode(...answers: PersonAnswer[]) {
  const messages = [{ role: 'assistant' as const, content: 'First this, then that.' }]
  const ctx = testContext({ contextSnapshot: { messages } }, () => answers.shift() ?? { text: '', declined: true })
  const call = callToolOf(planning(), ctx)
  return { ctx, call, mode: () => ctx.values.get(MODE_VALUE) }
}
const verdict = (values: object): PersonAnswer => ({ text: '', values })

it('begins with consent, and ends with an approved plan: the earlier mode is back', async () => {
  const { ctx, call, mode } = usePlanMode({ text: 'Yes' }, verdict({ approved: true }))
  expect(await call('EnterPlanMode', {})).toMatchObject({ isError: false, text: expect.stringContaining('is on') })
  expect(await mode()).toBe('plan')
  expect(await call('ExitPlanMode', { plan: '1. Look' })).toMatchObject({
    isError: false,
    text: 'The plan is approved. Plan mode is off: carry the plan out.',
  })
  expect(await mode()).toBeUndefined()
  expect(ctx.asked.map(({ preview }) => preview)).toEqual([undefined, '1. Look'])
})

it('does not begin without consent', async () => {
  const { call, mode } = usePlanMode({ text: 'just do it' })
  expect(await call('EnterPlanMode', {})).toMatchObject({ isError: true, text: expect.stringContaining('just do it') })
  expect(await mode()).toBeUndefined()
})

it('gives back the plan as the person has changed it, and what they add', async () => {
  const { call } = usePlanMode({ text: 'Yes' }, verdict({ approved: true, plan: '1. Look twice', feedback: 'slowly' }))
  await call('EnterPlanMode', {})
  expect(await call('ExitPlanMode', { plan: '1. Look' })).toMatchObject({
    text: expect.stringMatching(/with changes by the person[^]*slowly[^]*1\. Look twice/),
  })
})

it.each([
  ['is rejected', verdict({ approved: false, feedback: 'too much' }), 'too much'],
  ['is declined', { text: 'not now', declined: true as const }, 'not now'],
])('stays on if the plan %s, and says why', async (_how, answer, why) => {
  const { call, mode } = usePlanMode({ text: 'Yes' }, answer)
  await call('EnterPlanMode', {})
  expect(await call('ExitPlanMode', { plan: 'p' })).toMatchObject({ isError: true, text: expect.stringContaining(why) })
  expect(await mode()).toBe('plan')
})

it('shows the last words of the model if no plan is given, and asks nobody if plan mode is off', async () => {
  const { ctx, call } = usePlanMode({ text: 'Yes' }, verdict({ approved: true }))
  expect(await call('ExitPlanMode', {})).toMatchObject({ isError: true, text: expect.stringContaining('is off') })
  expect(ctx.asked).toEqual([])
  await call('EnterPlanMode', {})
  expect(await call('EnterPlanMode', {})).toMatchObject({ text: expect.stringContaining('already') })
  await call('ExitPlanMode', {})
  expect(ctx.asked.at(-1)?.preview).toBe('First this, then that.')
})
