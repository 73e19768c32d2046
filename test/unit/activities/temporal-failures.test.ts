/**
 * Whatever is thrown in an activity, and whatever a provider sends with its error: what reaches Temporal is small and
 * can be sent.
 */
import { temporal } from '@temporalio/proto'
import {
  ApplicationFailure,
  CancelledFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from '@temporalio/common'
import { CompleteAsyncError } from '@temporalio/activity'
import { APIError } from 'openai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toEndlessRetry, toFailure, tryAgain } from '../../../src/activities/step/temporal-failures.ts'
import { StelloError } from '../../../src/core/errors.ts'
import { toModelError } from '../../../src/models/model-error.ts'

const converter = new DefaultFailureConverter()
const LONG = 'x'.repeat(3 * 1024 * 1024)
const hostile = (): never => {
  throw new Error('gotcha')
}

/** As the worker sends it. */
function sent(failure: unknown): { bytes: number; delaySeconds: number | undefined; text: string } {
  const proto = converter.errorToFailure(failure, defaultPayloadConverter)
  const bytes = temporal.api.failure.v1.Failure.encode(proto).finish().length
  const delay = proto.applicationFailureInfo?.nextRetryDelay
  expect(proto.cause ?? undefined).toBeUndefined()
  return { bytes, delaySeconds: delay ? Number(delay.seconds) : undefined, text: proto.message ?? '' }
}

function circular(): Error {
  const error = new Error('circular')
  error.cause = error
  return error
}

function deep(levels: number): Error {
  let error = new Error('innermost')
  for (let n = 0; n < levels; n++) error = new Error(`level ${n}`, { cause: error })
  return error
}

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable(new Error('revoked'), {})
  revoke()
  return proxy
}

const THROWN: [string, () => unknown][] = [
  ['a circular cause', circular],
  ['ten thousand causes', () => deep(10_000)],
  ['3 MB of text', () => new Error(LONG)],
  ['3 MB of stack', () => Object.assign(new Error('deep'), { stack: LONG })],
  ['a stack that is none', () => Object.assign(new Error('odd'), { stack: { at: 'nowhere' } })],
  ['an object without a string form', () => Object.create(null) as object],
  ['a getter that throws', () => Object.defineProperty(new Error('hidden'), 'message', { get: hostile })],
  ['a stack that throws', () => Object.defineProperty(new Error('hidden'), 'stack', { get: hostile })],
  ['a cause that throws', () => Object.defineProperty(new Error('hidden'), 'cause', { get: hostile })],
  [
    'a proxy that throws',
    () => new Proxy(new Error('trapped'), { get: hostile, getPrototypeOf: hostile, has: hostile }),
  ],
  ['a revoked proxy', revoked],
  ['a frozen error', () => Object.freeze(new Error('frozen'))],
  ['a message that is none', () => Object.assign(new Error('odd'), { message: { toString: hostile } })],
  ['nothing', () => undefined],
  ['null', () => null],
  ['a symbol', () => Symbol('s')],
  ['a function', () => hostile],
  ['a BigInt', () => 1n],
  ['details that are circular', () => ApplicationFailure.create({ message: 'm', details: [circular()] })],
  ['a delay without end', () => ApplicationFailure.create({ message: 'm', nextRetryDelay: Infinity })],
  ['a delay that is none', () => ApplicationFailure.create({ message: 'm', nextRetryDelay: 'soon' as never })],
  ['a category of its own', () => ApplicationFailure.create({ message: 'm', category: 'ODD' as never })],
  [
    'an error of Temporal’s that carries another',
    () => Object.assign(new CancelledFailure(LONG, [LONG]), { failure: { message: LONG } }),
  ],
  ['a completion elsewhere', () => new CompleteAsyncError()],
  ['a wait of 1e308', () => new StelloError('MODEL_RATE_LIMITED', 'busy', { retryAfterMs: 1e308 })],
  ['a wait that is a text', () => new StelloError('MODEL_RATE_LIMITED', 'busy', { retryAfterMs: 'later' as never })],
  ['a hint of 3 MB', () => new StelloError('MODEL_AUTH', 'no', { hint: LONG })],
  ['a code that is none', () => Object.assign(new Error('fake'), { name: 'StelloError', code: LONG, fate: 'retry' })],
]

describe('what an activity throws', () => {
  it.each(THROWN)('can be sent, and is small: %s', (_what, thrown) => {
    for (const leaving of [toFailure(thrown()), toEndlessRetry(thrown()), tryAgain(thrown(), 1e308)]) {
      const { bytes, delaySeconds = 0 } = sent(leaving)
      expect(bytes).toBeLessThan(16 * 1024)
      expect(delaySeconds).toBeLessThanOrEqual(30 * 86_400)
      expect(leaving).not.toBeInstanceOf(CompleteAsyncError)
    }
  })

  it('can be sent, and is small, whatever it is', () => {
    const anything = fc.anything({
      withBigInt: true,
      withNullPrototype: true,
      withMap: true,
      withSet: true,
      withDate: true,
    })
    const errors = fc
      .record({
        make: fc.constantFrom(
          (m: string) => new Error(m),
          (m: string) => new StelloError('MODEL_UNAVAILABLE', m),
          (m: string) => ApplicationFailure.nonRetryable(m),
          (m: string) => new CancelledFailure(m),
        ),
        message: fc.string(),
        fields: fc.dictionary(
          fc.constantFrom(
            'message',
            'name',
            'code',
            'fate',
            'hint',
            'retryAfterMs',
            'cause',
            'stack',
            'type',
            'details',
            'failure',
            'nextRetryDelay',
            'nonRetryable',
            'category',
          ),
          anything,
        ),
      })
      .map(({ make, message, fields }) => {
        const error = make(message)
        void error.stack // Made when it is first read, from the fields as they are at that time.
        for (const [key, value] of Object.entries(fields)) Reflect.defineProperty(error, key, { value })
        return error
      })
    fc.assert(
      fc.property(fc.oneof(anything, errors), fc.double(), (thrown, delay) => {
        for (const leaving of [toFailure(thrown), toEndlessRetry(thrown), tryAgain(thrown, delay)]) {
          const { bytes, delaySeconds = 0 } = sent(leaving)
          if (bytes > 16 * 1024 || !(delaySeconds >= 0 && delaySeconds <= 30 * 86_400)) return false
        }
        return true
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps its words, its code and its wait', () => {
    const busy = toFailure(new StelloError('MODEL_RATE_LIMITED', 'too fast', { retryAfterMs: 7000 }))
    expect(busy).toMatchObject({ message: 'too fast', type: 'MODEL_RATE_LIMITED', nextRetryDelay: 7000 })
    expect(toFailure(new StelloError('STORE_CORRUPT', 'gone', { hint: 'look' }))).toMatchObject({
      message: 'gone (look)',
      type: 'STORE_CORRUPT',
      nonRetryable: true,
    })
    expect(toFailure(ApplicationFailure.nonRetryable('closed', 'SESSION_CLOSED'))).toMatchObject({
      message: 'closed',
      type: 'SESSION_CLOSED',
      nonRetryable: true,
    })
    expect(toFailure(new TypeError('a bug'))).toMatchObject({ message: 'a bug', type: 'TypeError' })
    expect(toFailure(new TypeError('a bug')).stack).toContain('failures.test.ts')
    expect(toFailure(new CancelledFailure('cancelled'))).toBeInstanceOf(CancelledFailure)
    expect(toEndlessRetry(tryAgain(new Error('again'), 500))).toMatchObject({ message: 'again', nextRetryDelay: 500 })
    expect(toEndlessRetry(ApplicationFailure.nonRetryable('stale', 'STALE_RUN'))).toMatchObject({ nonRetryable: false })
  })
})

describe('what a provider answers beside its error', () => {
  const asked = { model: 'm', host: 'h', keyVariable: 'KEY' }
  const odd = fc.oneof(
    fc.constantFrom(
      '1e308',
      '-1',
      'NaN',
      'Infinity',
      '-Infinity',
      '1e999',
      '',
      ' ',
      '1, 2',
      '0x10',
      '١٢',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      'Fri, 31 Dec 9999 23:59:59 GMT',
    ),
    fc.double().map(String),
    fc.string({ unit: 'grapheme-ascii' }),
  )

  it('is a wait that Temporal takes, or none', () => {
    const headers = fc.dictionary(fc.constantFrom('retry-after', 'retry-after-ms', 'x-should-retry'), odd)
    fc.assert(
      fc.property(fc.constantFrom(429, 500, 503, 408), headers, (status, given) => {
        const told = new Headers(
          Object.entries(given).map(([name, value]) => [name, value.replaceAll(/[^\x20-\x7e]/g, '')]),
        )
        const error = toModelError(APIError.generate(status, { error: { message: 'no' } }, undefined, told), asked)
        const { delaySeconds = 0 } = sent(toFailure(error))
        return delaySeconds >= 0 && delaySeconds <= 30 * 86_400
      }),
      { numRuns: 1000 },
    )
  })
})
