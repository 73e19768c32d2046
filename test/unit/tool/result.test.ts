import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clean } from '../../../src/core/clean.ts'
import { normalizeResult } from '../../../src/tool/result.ts'

function gotcha(): never {
  throw new Error('gotcha')
}

const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const

describe('normalizeResult reads', () => {
  it.each([
    ['text', 'hello', { content: 'hello', isError: false }],
    ['nothing', undefined, { content: '(no output)', isError: false }],
    ['null', null, { content: '(no output)', isError: false }],
    ['a number', 0, { content: '0', isError: false }],
    ['a list', [1, 'a'], { content: '[1,"a"]', isError: false }],
    ['an object', { a: 1 }, { content: '{"a":1}', isError: false }],
    [
      'text content',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { content: 'a\nb', isError: false },
    ],
    ['empty content', { content: [] }, { content: '(no output)', isError: false }],
    ['failed content', { content: [{ type: 'text', text: 'no' }], isError: true }, { content: 'no', isError: true }],
    ['content as text', { content: 'no', isError: true }, { content: 'no', isError: true }],
    [
      'details',
      { content: [{ type: 'text', text: 'a' }], details: { id: 1 } },
      { content: 'a', isError: false, details: { id: 1 } },
    ],
    ['success with data', { success: true, data: { saved: true } }, { content: '{"saved":true}', isError: false }],
    ['success with text', { success: true, data: 'ok' }, { content: 'ok', isError: false }],
    ['success alone', { success: true }, { content: '(no output)', isError: false }],
    ['failure with text', { success: false, error: 'no such file' }, { content: 'no such file', isError: true }],
    [
      'failure with an error object',
      { success: false, error: { message: 'gone', code: 1 } },
      { content: 'gone', isError: true, error: { code: '1' } },
    ],
    [
      'what a failure is called, cut',
      { success: false, error: { message: 'gone', type: 'not_found', code: `E${'x'.repeat(100)}` } },
      { content: 'gone', isError: true, error: { type: 'not_found', code: `E${'x'.repeat(62)}…` } },
    ],
    [
      'a failure that is called nothing, or something odd',
      { success: false, error: { message: 'gone', type: '', code: { a: 1 } } },
      { content: 'gone', isError: true },
    ],
    ['no error of a success', { success: true, data: 'ok', error: { code: 'E' } }, { content: 'ok', isError: false }],
    ['failure alone', { success: false }, { content: 'The tool failed without saying why', isError: true }],
    ['failure with data', { success: false, error: 'half', data: [1] }, { content: 'half\n[1]', isError: true }],
    [
      'both channels',
      { success: true, llmContent: { n: 1 }, displayContent: 'One', metadata: { ms: 5 } },
      { content: '{"n":1}', isError: false, display: 'One', details: { ms: 5 } },
    ],
    [
      'a failure on both channels',
      { success: false, llmContent: 'cannot: x', displayContent: 'Failed', error: { message: 'x' } },
      { content: 'cannot: x', isError: true, display: 'Failed' },
    ],
    ['an Error', new Error('broken'), { content: 'broken', isError: true }],
  ])('%s', (_what, value, expected) => {
    expect(normalizeResult(value)).toEqual(expected)
  })

  it('images as parts, with a text that stands for them', () => {
    expect(normalizeResult({ content: [{ type: 'text', text: 'see' }, image] })).toEqual({
      content: 'see\n[image image/png]',
      isError: false,
      parts: [{ type: 'text', text: 'see' }, image],
    })
  })

  it('data that only looks like a result as data, without losing a field', () => {
    expect(normalizeResult({ path: 'a', content: 'text of a file' }).content).toBe(
      '{"path":"a","content":"text of a file"}',
    )
    expect(normalizeResult({ content: ['a', 'b'] }).content).toBe('{"content":["a","b"]}')
    expect(normalizeResult({ success: true, id: 7 }).content).toBe('{"success":true,"id":7}')
  })

  it('content of a kind no model takes as the JSON it is', () => {
    expect(normalizeResult({ content: [{ type: 'audio', data: 'x' }] }).content).toBe('{"type":"audio","data":"x"}')
  })
})

describe('normalizeResult answers with an error for', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  it.each([
    ['a function', () => 1, 'it is a function'],
    ['a symbol', Symbol('x'), 'it is a symbol'],
    ['a bigint', 1n, 'it is a bigint'],
    ['a bigint inside', { success: true, data: { size: 1n } }, '"size" is a bigint'],
    ['a function inside', { run: () => 1 }, '"run" is a function'],
    ['a Map inside', { all: new Map() }, '"all" is a Map'],
    ['a circle', circular, 'circular'],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('gotcha')
        },
      },
      'gotcha',
    ],
  ])('%s, naming the problem', (_what, value, problem) => {
    const result = normalizeResult(value)
    expect(result.isError).toBe(true)
    expect(result.content).toMatch(/^The tool returned something that is not JSON: /)
    expect(result.content).toContain(problem)
  })

  const settled = Promise.resolve('late')
  const made = {
    *generator() {
      yield 1
    },
    async *asynchronous() {
      yield 1
    },
  }
  it.each([
    ['a generator', made.generator(), 'it is a Generator'],
    ['an asynchronous generator', made.asynchronous(), 'it is a AsyncGenerator'],
    ['one that was made by hand', { [Symbol.asyncIterator]: () => made.asynchronous() }, 'it is a Object'],
    ['one of no kind', { *[Symbol.iterator]() {} }, 'it is a Object'],
    ['a Response', new Response('{"a":1}'), 'it is a Response'],
    ['a stream of the web', new Response('text').body, 'it is a ReadableStream'],
    ['a stream of Node', Readable.from(['text']), 'it is a Readable'],
    ['a promise inside', { price: settled }, '"price" is a Promise'],
    ['promises in a list', [1, settled], '"1" is a Promise'],
    ['a promise as data', { success: true, data: settled }, 'it is a Promise'],
    ['a promise for the model', { success: true, llmContent: settled, displayContent: 'ok' }, 'it is a Promise'],
    ['a promise as content', { content: [{ type: 'text', text: settled }] }, '"text" is a Promise'],
    ['a Blob', new Blob(['text']), 'it is a Blob'],
    ['bytes', new ArrayBuffer(8), 'it is a ArrayBuffer'],
    ['a Map', new Map([['a', 1]]), 'it is a Map'],
    ['a pattern', { found: /a/ }, '"found" is a RegExp'],
  ])('%s, and never tells it as {}', (_what, value, problem) => {
    const { isError, content } = normalizeResult(value)
    expect(isError).toBe(true)
    expect(content).toBe(
      `The tool returned something that is not JSON: ${problem}; await or read it, and return what it holds`,
    )
  })

  it('a promise that fails later, which harms nobody', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', note)
    const { content } = normalizeResult({ price: Promise.reject(new Error('no price')) })
    // Unhandled rejections are reported in the next round of the event loop.
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(content).toContain('"price" is a Promise')
    expect(unhandled).toEqual([])
  })

  it('nothing, where an object is only unusual', () => {
    class Weather {
      city = 'Oslo'
      #secret = 1
      look() {
        return this.#secret
      }
    }
    const bare = Object.assign(Object.create(null) as object, { a: 1 })
    const values = [new Weather(), bare, {}, [], Object.create(null), { at: new Date(0) }, { n: Object(5) as unknown }]
    expect(values.map((value) => normalizeResult(value).content)).toEqual([
      '{"city":"Oslo"}',
      '{"a":1}',
      '{}',
      '[]',
      '{}',
      '{"at":"1970-01-01T00:00:00.000Z"}',
      '{"n":5}',
    ])
  })

  it('nothing if an error stands among the data: its message is told', () => {
    const odd = new Error('x')
    Object.defineProperty(odd, 'message', { get: () => gotcha() })
    expect(normalizeResult({ failed: [new TypeError('no city'), odd] }).content).toBe(
      '{"failed":["no city","something that has no text was thrown"]}',
    )
    expect(normalizeResult(odd)).toEqual({ content: 'something that has no text was thrown', isError: true })
  })

  it('nothing, when only the details are not JSON', () => {
    expect(normalizeResult({ content: [], details: { n: 1n } })).toEqual({
      content: '(no output)',
      isError: false,
      details: 'not JSON: "n" is a bigint',
    })
  })
})

it('normalizeResult never throws, and everything it gives is JSON', () => {
  const shaped = fc.record(
    {
      content: fc.anything(),
      isError: fc.anything(),
      success: fc.anything(),
      data: fc.anything(),
      error: fc.anything(),
      llmContent: fc.anything(),
      displayContent: fc.anything(),
      metadata: fc.anything(),
      details: fc.anything(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), shaped, fc.anything({ withBigInt: true, withMap: true, withDate: true })),
      (value) => {
        const result = normalizeResult(value)
        expect(typeof result.content).toBe('string')
        expect(typeof result.isError).toBe('boolean')
        expect(() => JSON.stringify(result)).not.toThrow()
      },
    ),
  )
})

describe('clean', () => {
  it('replaces NUL and lone surrogates and keeps whole characters', () => {
    expect(clean('a\0b\uD83Dc\uDE00 😀')).toBe('a\uFFFDb\uFFFDc\uFFFD 😀')
  })

  it('leaves text that encodes to UTF-8 and back unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
        (text) => {
          const cleaned = clean(text)
          expect(Buffer.from(cleaned, 'utf8').toString('utf8')).toBe(cleaned)
          expect(cleaned).not.toContain('\0')
          expect(cleaned).toHaveLength(text.length)
        },
      ),
    )
  })
})
