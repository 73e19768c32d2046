/** Whatever user code throws has a text, and a short one. */
import { describe, expect, it } from 'vitest'
import { ERROR_TEXT_LIMIT, StelloError, isStelloError, messageOf, toStelloError } from '../../../src/core/errors.ts'

const hostile = (): never => {
  throw new Error('gotcha')
}

describe('the text of an error', () => {
  it.each([
    ['an error', new Error('why'), 'why'],
    ['an error without words', new TypeError(), 'TypeError'],
    ['text', 'why', 'why'],
    ['an object that says why', { message: 'why' }, 'why'],
    ['nothing', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object without a string form', Object.create(null), 'something that has no text was thrown'],
    [
      'a getter that throws',
      Object.defineProperty(new Error('x'), 'message', { get: hostile }),
      'something that has no text was thrown',
    ],
    [
      'a proxy that throws',
      new Proxy({}, { get: hostile, has: hostile, getPrototypeOf: hostile }),
      'something that has no text was thrown',
    ],
    [
      'a message that is none',
      Object.assign(new Error('x'), { message: { toString: hostile } }),
      'something that has no text was thrown',
    ],
  ])('is there for %s', (_what, thrown, text) => {
    expect(messageOf(thrown)).toBe(text)
    expect(isStelloError(thrown)).toBe(false)
  })

  it('of 3 MB is cut, and not in the middle of a character', () => {
    const text = messageOf(new Error(`${'x'.repeat(ERROR_TEXT_LIMIT - 2)}${'🎓'.repeat(1024 * 1024)}`))
    expect([text.length, text.endsWith('x…')]).toEqual([ERROR_TEXT_LIMIT - 1, true])
  })
})

describe('an error that says what is to be done', () => {
  it('is taken over with the fields that can be relied on', () => {
    const thrown = Object.assign(new StelloError('MODEL_RATE_LIMITED', 'busy'), {
      hint: { toString: hostile },
      retryAfterMs: NaN,
      cause: new Error('secret'),
    })
    expect(toStelloError(thrown)).toMatchObject({
      code: 'MODEL_RATE_LIMITED',
      message: 'busy',
      hint: undefined,
      retryAfterMs: undefined,
    })
    expect(toStelloError(thrown)?.cause).toBeUndefined()
  })

  it('counts only with a known code, and with fields that can be read', () => {
    const fake = (fields: object): unknown => Object.assign(new Error('fake'), { name: 'StelloError', ...fields })
    expect(toStelloError(fake({ code: 'MODEL_AUTH' }))?.fate).toBe('pause')
    for (const code of ['toString', 'x'.repeat(1e6), 5, undefined])
      expect(toStelloError(fake({ code }))).toBeUndefined()
    expect(toStelloError(Object.defineProperty(fake({ code: 'MODEL_AUTH' }), 'hint', { get: hostile }))).toBeUndefined()
  })
})
