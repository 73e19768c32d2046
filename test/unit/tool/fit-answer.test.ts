/** Whether what a person said answers the question of a tool. */
import { expect, it } from 'vitest'
import { fitAnswer } from '../../../src/tool/fit-answer.ts'

const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }

it.each([
  ['a text', {}, { text: 'EU' }, { text: 'EU' }],
  ['values that fit the form', { schema }, { text: '', values: { age: 3 } }, { text: '{"age":3}', values: { age: 3 } }],
  ['values beside a text', { schema }, { text: 'ok', values: { age: 3 } }, { text: 'ok', values: { age: 3 } }],
  [
    'values that the form can repair',
    { schema },
    { text: 'ok', values: { age: '3' } },
    { text: 'ok', values: { age: 3 } },
  ],
  ['no answer', { schema }, { text: 'no', declined: true as const }, { text: 'no', declined: true }],
])('%s fits', (_what, question, given, value) => {
  expect(fitAnswer(question, given)).toEqual({ ok: true, value })
})

it.each([
  ['an empty text', {}, { text: ' ' }, 'the answer is empty'],
  ['values without a form', {}, { text: 'EU', values: {} }, 'the question has no form: answer with a text'],
  ['a text without values', { schema }, { text: '3' }, 'the question has a form: answer with values that fit it'],
  ['values that do not fit', { schema }, { text: '', values: { age: 'old' } }, '- age: must be integer; got "old"'],
])('%s does not fit, and the reason is told', (_what, question, given, why) => {
  expect(fitAnswer(question, given)).toEqual({ ok: false, problem: expect.stringContaining(why) as string })
})
