/** The classifier alone. What becomes of the failures of a real server is tested in openai.test.ts. */
import Anthropic from '@anthropic-ai/sdk'
import { APICallError } from '@ai-sdk/provider'
import { APIConnectionError, APIError, APIUserAbortError } from 'openai'
import { describe, expect, it } from 'vitest'
import { StelloError } from '../../src/core/errors.ts'
import { toModelError } from '../../src/models/model-error.ts'

const asked = { model: 'gpt-x', host: 'api.example.com', keyVariable: 'EXAMPLE_API_KEY', secrets: ['secret-42'] }

interface Failure {
  status?: number
  message?: string
  code?: string
  type?: string
  headers?: Record<string, string>
}

function failed({ status, headers = {}, ...error }: Failure): StelloError {
  const body = { message: 'so it is', ...error }
  return toModelError(
    status === undefined
      ? new APIError(undefined, body, undefined, new Headers())
      : APIError.generate(status, { error: body }, undefined, new Headers(headers)),
    asked,
  )
}

describe('a status', () => {
  it.each([
    [400, 'MODEL_REFUSED_REQUEST'],
    [401, 'MODEL_AUTH'],
    [402, 'MODEL_NO_CREDIT'],
    [403, 'MODEL_AUTH'],
    [404, 'MODEL_REFUSED_REQUEST'],
    [408, 'MODEL_UNAVAILABLE'],
    [409, 'MODEL_UNAVAILABLE'],
    [413, 'MODEL_CONTEXT_TOO_LONG'],
    [422, 'MODEL_REFUSED_REQUEST'],
    [429, 'MODEL_RATE_LIMITED'],
    [500, 'MODEL_UNAVAILABLE'],
    [503, 'MODEL_UNAVAILABLE'],
    [529, 'MODEL_UNAVAILABLE'],
  ])('%i becomes %s and is told with the model and the provider’s words', (status, code) => {
    const error = failed({ status })
    expect(error.code).toBe(code)
    expect(error.message).toBe(`model gpt-x: ${status} so it is`)
  })

  it('is overruled by x-should-retry: true; but false makes no refusal of an error that passes', () => {
    expect(failed({ status: 400, headers: { 'x-should-retry': 'true' } }).code).toBe('MODEL_UNAVAILABLE')
    expect(failed({ status: 503, headers: { 'x-should-retry': 'false' } }).code).toBe('MODEL_UNAVAILABLE')
    expect(failed({ status: 429, headers: { 'x-should-retry': 'false' } }).code).toBe('MODEL_RATE_LIMITED')
  })

  it('without a body is told alone', () => {
    expect(toModelError(APIError.generate(502, undefined, undefined, new Headers()), asked).message).toBe(
      'model gpt-x: 502 status code (no body)',
    )
  })
})

describe('the message that a provider means', () => {
  const behind = (error: object): number | undefined =>
    toModelError(APIError.generate(400, { error }, undefined, new Headers()), {
      ...asked,
      behind: (index) => 10 - index,
    }).behind

  it.each([
    { message: "Invalid 'messages[3].tool_calls[0].id': string too long." },
    { message: 'Missing', param: 'messages.[3].role' },
    { message: "Invalid 'input[3].content'." },
    { message: 'messages.3: `tool_use` ids were found without `tool_result` blocks' },
    { message: 'messages.3.content.0.text: field required' },
    { message: "[{'loc': ('body', 'messages', 3, 'content'), 'msg': 'Input should be a valid string'}]" },
    { message: 'contents[3].parts is empty' },
  ])('is found in %j', (error) => {
    expect(behind(error)).toBe(7)
  })

  it('is unknown where nothing names it', () => {
    expect(behind({ message: '3 messages are too many; see the 400 messages of yesterday' })).toBeUndefined()
  })
})

describe('a conversation that is too long', () => {
  it.each([
    { code: 'context_length_exceeded' },
    { message: "This model's maximum context length is 8192 tokens" },
    { message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    { message: 'the request exceeds the available context size' },
  ])('is recognised by %o', (error) => {
    expect(failed({ status: 400, ...error }).code).toBe('MODEL_CONTEXT_TOO_LONG')
  })
})

describe('an account without credit', () => {
  it.each([
    { status: 429, code: 'insufficient_quota' },
    { status: 429, type: 'insufficient_quota' },
    { status: 402 },
    { status: 400, message: 'Your credit balance is too low' },
  ])('pauses over %o, because waiting does not help', (failure) => {
    const error = failed(failure)
    expect(error.fate).toBe('pause')
    expect(error.hint).toMatch(/billing/)
  })
})

describe('Retry-After', () => {
  const waits = (headers: Record<string, string>, status = 429): number | undefined =>
    failed({ status, headers }).retryAfterMs

  it('is read from milliseconds first, then from seconds', () => {
    expect(waits({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250)
    expect(waits({ 'retry-after': '1.5' })).toBe(1500)
    expect(waits({ 'retry-after': '7' }, 503)).toBe(7000)
  })

  it('may be a date; a date that has passed means at once', () => {
    const ms = waits({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() })
    expect(ms).toBeGreaterThan(50_000)
    expect(ms).toBeLessThanOrEqual(60_000)
    expect(waits({ 'retry-after': 'Wed, 01 Jan 2020 00:00:00 GMT' })).toBe(0)
  })

  it.each([
    ['Rate limit reached. Please try again in 1.2s.', 1200],
    ['Please try again in 350ms', 350],
    ['try again in 2m1.5s', 121_500],
    ['try again in 6m', 360_000],
    ['try again in a moment', undefined],
  ])('may stand only in the words: %s', (message, ms) => {
    expect(failed({ status: 429, message }).retryAfterMs).toBe(ms)
    expect(failed({ status: 429, message, headers: { 'retry-after': '3' } }).retryAfterMs).toBe(3000)
  })

  it('is left out when it is missing, unreadable, or nothing is tried again', () => {
    expect(waits({})).toBeUndefined()
    expect(waits({ 'retry-after': 'soon' })).toBeUndefined()
    expect(waits({ 'retry-after': '7' }, 401)).toBeUndefined()
  })
})

describe('an error inside a stream', () => {
  it('has no status and is known by its words', () => {
    expect(failed({ code: 'rate_limit_exceeded' }).code).toBe('MODEL_RATE_LIMITED')
    expect(failed({ code: 'context_length_exceeded' }).code).toBe('MODEL_CONTEXT_TOO_LONG')
    expect(failed({ type: 'overloaded_error' }).code).toBe('MODEL_UNAVAILABLE')
    expect(failed({ type: 'authentication_error' }).code).toBe('MODEL_AUTH')
  })
})

describe('an error of another SDK', () => {
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const waits = new Headers({ 'retry-after': '7' })

  it('is read from Anthropic’s, with status and inside a stream', () => {
    expect(toModelError(Anthropic.APIError.generate(529, body, undefined, waits), asked)).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: 'model gpt-x: 529 Overloaded',
      retryAfterMs: 7000,
    })
    const inStream = new Anthropic.APIError(undefined, body, undefined, waits, 'overloaded_error')
    expect(toModelError(inStream, asked)).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: 'model gpt-x: Overloaded',
    })
    const limited = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }
    expect(toModelError(new Anthropic.APIError(undefined, limited, undefined, waits), asked).code).toBe(
      'MODEL_RATE_LIMITED',
    )
    expect(toModelError(new Anthropic.APIConnectionError({ cause: new Error('reset') }), asked).message).toBe(
      'model gpt-x: no answer from api.example.com: reset',
    )
    const abort = new Anthropic.APIUserAbortError()
    expect(() => toModelError(abort, asked)).toThrow(abort)
  })

  it('is read from the AI SDK’s, with its own names of status and headers', () => {
    const failure = (statusCode?: number, responseBody?: string): APICallError =>
      new APICallError({
        message: 'it failed',
        url: 'https://host',
        requestBodyValues: {},
        ...(statusCode !== undefined && { statusCode, responseHeaders: { 'retry-after-ms': '20' } }),
        ...(responseBody !== undefined && { responseBody }),
        cause: new Error('socket hang up'),
      })
    expect(toModelError(failure(429), asked)).toMatchObject({
      code: 'MODEL_RATE_LIMITED',
      message: 'model gpt-x: 429 it failed',
      retryAfterMs: 20,
    })
    expect(
      toModelError(failure(429, '{"error":{"code":"insufficient_quota","message":"none left"}}'), asked),
    ).toMatchObject({ code: 'MODEL_NO_CREDIT', message: 'model gpt-x: 429 none left' })
    expect(toModelError(failure(), asked).message).toBe('model gpt-x: no answer from api.example.com: socket hang up')
  })
})

describe('a connection that fails', () => {
  it('is told by its innermost reason', () => {
    const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:9')])
    const error = toModelError(
      new APIConnectionError({ cause: new TypeError('fetch failed', { cause: refused }) }),
      asked,
    )
    expect(error).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: 'model gpt-x: no answer from api.example.com: connect ECONNREFUSED ::1:9',
    })
  })

  it('may be tried again when the answer was no JSON', () => {
    expect(toModelError(new SyntaxError('Unexpected token <'), asked).code).toBe('MODEL_UNAVAILABLE')
  })
})

describe('what the reader gets', () => {
  it('says which variable to set when the key is refused', () => {
    expect(failed({ status: 401 }).hint).toMatch(/EXAMPLE_API_KEY.*resume/)
  })

  it('never holds the key, nor what is left of it', () => {
    const error = failed({ status: 401, message: 'Incorrect API key provided: secret-42 (sk-abc***xyz).' })
    expect(error.message).toBe('model gpt-x: 401 Incorrect API key provided: (secret) ((secret)).')
    expect(error.cause).toBeUndefined()
  })

  it('is not cut where a key is part of a longer word', () => {
    const error = toModelError(new Error('fatal: it failed'), { ...asked, secrets: ['il'] })
    expect(error.message).toBe('model gpt-x: no answer from api.example.com: fatal: it failed')
  })

  it('is short', () => {
    expect(failed({ status: 400, message: 'x'.repeat(10_000) }).message.length).toBeLessThanOrEqual(300)
  })
})

describe('what is known already', () => {
  it('keeps its code, its hint and its wait', () => {
    const known = new StelloError('MODEL_RATE_LIMITED', 'busy', { hint: 'wait', retryAfterMs: 5 })
    expect(toModelError(known, asked)).toMatchObject({
      code: 'MODEL_RATE_LIMITED',
      message: 'model gpt-x: busy',
      hint: 'wait',
      retryAfterMs: 5,
    })
  })

  it('is thrown on when it is an abort', () => {
    const abort = new APIUserAbortError()
    expect(() => toModelError(abort, asked)).toThrow(abort)
    expect(() => toModelError(new DOMException('gone', 'AbortError'), asked)).toThrow('gone')
  })
})
