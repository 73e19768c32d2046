/** What a model in user code may return: either plain data that can be relied on, or an error that names the field. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANSWER_LIMIT } from '../../../src/activities/model/answer-size.ts'
import { toCompletion } from '../../../src/activities/model/completion.ts'
import { isStelloError } from '../../../src/core/errors.ts'

const usage = { inputTokens: 1, outputTokens: 2 }
const good = { content: 'hi', toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }], usage, finishReason: 'stop' }

function problemOf(given: unknown): string {
  try {
    toCompletion(given, 'mine')
  } catch (error) {
    if (isStelloError(error) && error.code === 'MODEL_BAD_ANSWER') return error.message
    throw error
  }
  return 'none'
}

describe('a completion', () => {
  it('is copied, and only its known fields are', () => {
    const given = { ...good, toolCalls: [{ ...good.toolCalls[0], more: 1 }], usage: { ...usage, raw: {} }, more: 1 }
    expect(toCompletion(given, 'mine')).toEqual(good)
    const dear = { ...usage, cachedTokens: 0.5, costUsd: 0.01 }
    expect(toCompletion({ ...good, usage: dear }, 'mine').usage).toEqual(dear)
  })

  it('says who answered if the model said so, in a name of limited length', () => {
    expect(toCompletion({ ...good, model: 'm-2026' }, 'mine').model).toBe('m-2026')
    expect(toCompletion({ ...good, model: 'm'.repeat(1000) }, 'mine').model).toBe(`${'m'.repeat(199)}…`)
    expect(toCompletion({ ...good, model: '' }, 'mine')).toEqual(good)
    expect(problemOf({ ...good, model: 7 })).toBe('model mine: model must be text, not 7')
  })

  it.each([
    ['nothing', undefined, 'an answer must be an object, not undefined'],
    ['text', 'hi', 'an answer must be an object, not string'],
    ['no content', { ...good, content: null }, 'content must be text, not null'],
    ['calls that are no list', { ...good, toolCalls: {} }, 'toolCalls must be a list, not object'],
    ['a call that is none', { ...good, toolCalls: [null] }, 'toolCalls[0] must be an object, not null'],
    ['a hole for a call', { ...good, toolCalls: Array(1) }, 'toolCalls[0] must be an object, not undefined'],
    [
      'an id that is a number',
      { ...good, toolCalls: [{ id: 1, name: 'f', arguments: '' }] },
      'toolCalls[0].id must be text, not 1',
    ],
    [
      'arguments that are parsed',
      { ...good, toolCalls: [{ id: 'a', name: 'f', arguments: {} }] },
      'toolCalls[0].arguments must be text (JSON), not object',
    ],
    ['no usage', { ...good, usage: undefined }, 'usage must be an object, not undefined'],
    [
      'no tokens',
      { ...good, usage: { inputTokens: 1 } },
      'usage.outputTokens must be a number of 0 or more, not undefined',
    ],
    [
      'tokens that are not a number',
      { ...good, usage: { ...usage, inputTokens: NaN } },
      'usage.inputTokens must be a number of 0 or more, not NaN',
    ],
    [
      'tokens without end',
      { ...good, usage: { ...usage, cachedTokens: Infinity } },
      'usage.cachedTokens must be a number of 0 or more, not Infinity',
    ],
    [
      'a cost below nothing',
      { ...good, usage: { ...usage, costUsd: -1 } },
      'usage.costUsd must be a number of 0 or more, not -1',
    ],
    [
      'an end of its own',
      { ...good, finishReason: 'tired' },
      'finishReason must be one of stop, tool_calls, length, refusal, not string',
    ],
    [
      'a getter that throws',
      {
        ...good,
        get content() {
          throw new Error('gotcha')
        },
      },
      'its answer cannot be read: gotcha',
    ],
  ])('with %s is refused by a pause that names it', (_what, given, problem) => {
    expect(problemOf(given)).toBe(`model mine: ${problem}`)
  })

  it.each([
    ['text', { ...good, content: 'x'.repeat(ANSWER_LIMIT) }],
    [
      'arguments',
      {
        ...good,
        toolCalls: Array.from({ length: 64 }, () => ({ id: 'a', name: 'f', arguments: 'x'.repeat(ANSWER_LIMIT / 64) })),
      },
    ],
    [
      'empty calls',
      { ...good, toolCalls: Array.from({ length: ANSWER_LIMIT / 2 }, () => ({ id: '', name: '', arguments: '' })) },
    ],
  ])('with %s beyond the limit is refused', (_what, given) => {
    expect(problemOf(given)).toMatch('grew beyond 4 Mi characters')
  })

  it('is plain data or refused, whatever is given', () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true })
    const nearly = fc.record(
      {
        content: fc.oneof(fc.string(), anything),
        toolCalls: fc.oneof(
          fc.array(fc.record({ id: fc.string(), name: fc.string(), arguments: fc.oneof(fc.string(), anything) })),
          anything,
        ),
        usage: fc.oneof(
          fc.record({ inputTokens: fc.double(), outputTokens: fc.double({ min: 0, max: 1e6, noNaN: true }) }),
          anything,
        ),
        finishReason: fc.oneof(fc.constant('stop'), anything),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(nearly, anything), (given) => {
        if (problemOf(given) !== 'none') return
        const completion = toCompletion(given, 'mine')
        const json = JSON.stringify(completion)
        expect(JSON.stringify(JSON.parse(json))).toBe(json)
      }),
      { numRuns: 2000 },
    )
  })
})
