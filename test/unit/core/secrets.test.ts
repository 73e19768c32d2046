/** What a process must not tell is cut from its texts, and nothing else is cut. */
import { describe, expect, it } from 'vitest'
import { ERROR_TEXT_LIMIT, messageOf, StelloError, toStelloError } from '../../../src/core/errors.ts'
import { redactProblem } from '../../../src/agent/redact.ts'
import { keepSecret, LONGEST_SECRET, withoutKnownIn, withoutSecrets } from '../../../src/core/secrets.ts'

describe('users and passwords of URLs', () => {
  it.each([
    ['cannot reach https://me:geheim@host/x', 'cannot reach https://(secret)@host/x'],
    ['postgresql://stello:p%40ss@db:5432/stello?a=b', 'postgresql://(secret)@db:5432/stello?a=b'],
    ['redis://:only-a-password@cache', 'redis://(secret)@cache'],
    ['https://a-token@host', 'https://(secret)@host'],
    ['https://me:with@sign@host', 'https://(secret)@host'],
    ['"https://me:geheim@a" and "https://you:anders@b"', '"https://(secret)@a" and "https://(secret)@b"'],
    ['postgresql:///db?user=me&password=geheim&x=y', 'postgresql:///db?user=me&password=(secret)&x=y'],
  ])('%s is told as %s', (text, told) => {
    expect(withoutSecrets(text)).toBe(told)
  })

  it.each(['https://host/@scope/name', 'write to me@host', 'https://host?mail=me@host', 'a://b c@d', 'file:///x@y'])(
    'there are none in %s',
    (text) => expect(withoutSecrets(text)).toBe(text),
  )

  it('are looked for in linear time', () => {
    const text = 'a://'.repeat(256 * 1024)
    expect(withoutSecrets(text)).toBe(text)
  })
})

describe('a secret that is known', () => {
  it('is cut wherever it stands as a whole, also in the forms of a URL and of JSON', () => {
    const secret = 'pä"ss/wort-1'
    keepSecret(secret)
    const texts = [secret, encodeURIComponent(secret), JSON.stringify({ secret })]
    expect(texts.map((text) => withoutSecrets(`<${text}>`))).toEqual([
      '<(secret)>',
      '<(secret)>',
      '<{"secret":"(secret)"}>',
    ])
  })

  it('is not cut inside a longer word, because that would spoil the text', () => {
    keepSecret('heirloom')
    expect(withoutSecrets('heirloom, heirlooms, unheirloom')).toBe('(secret), heirlooms, unheirloom')
  })

  it('of fewer than 8 characters is none', () => {
    keepSecret('il', 'default', '', undefined)
    expect(withoutSecrets('it failed: default')).toBe('it failed: default')
  })

  it('is cut before another one that is its beginning', () => {
    keepSecret('begin-of-key', 'begin-of-key-and-end')
    expect(withoutSecrets('begin-of-key-and-end, begin-of-key')).toBe('(secret), (secret)')
  })

  it('may hold characters that have a meaning in patterns', () => {
    keepSecret('^(a+)+$[.*|]\\')
    expect(withoutSecrets('x^(a+)+$[.*|]\\x')).toBe('x(secret)x')
  })

  it('is cut at any depth of a JSON value', () => {
    keepSecret('deep-secret')
    expect(withoutKnownIn({ a: [{ 'deep-secret': 'a deep-secret' }, 1, null] })).toEqual({
      a: [{ '(secret)': 'a (secret)' }, 1, null],
    })
  })
})

describe('an error', () => {
  it('tells no secret, neither by its message nor by its hint', () => {
    keepSecret('hunter2-hunter2')
    const error = new StelloError('TOOL_EXECUTION_ERROR', 'hunter2-hunter2 at https://a:b@c', {
      hint: 'not hunter2-hunter2',
    })
    expect(messageOf(error)).toBe('(secret) at https://(secret)@c')
    expect(toStelloError(error)).toMatchObject({ message: '(secret) at https://(secret)@c', hint: 'not (secret)' })
  })

  it.each([0, 1, 7, 14])('that is cut tells no part of a secret, %i characters before its end', (before) => {
    const secret = 'half-a-secret!x'
    keepSecret(secret)
    for (const end of [ERROR_TEXT_LIMIT, ERROR_TEXT_LIMIT + LONGEST_SECRET]) {
      const text = `${`${secret} `.repeat(400)}${'-'.repeat(end)}`.slice(0, end - before) + `${secret} `.repeat(3)
      expect(messageOf(new Error(text)).includes('half')).toBe(false)
    }
  })
})

describe('the list of an agent', () => {
  it('may name variables that are not set', () => {
    expect(redactProblem([undefined, '', 'long enough'])).toBeUndefined()
  })

  it.each([
    [['fine-secret', 'short'], 'redact[1]: must be a text of 8 to 4096 characters'],
    [[12_345_678], 'redact[0]'],
    [['x'.repeat(LONGEST_SECRET + 1)], 'redact[0]'],
    ['a-secret', 'redact: must be a list'],
    [null, 'redact: must be a list'],
  ])('%j is refused', (list, says) => {
    const problem = redactProblem(list)
    expect(problem).toContain(says)
    expect(problem).not.toContain('short"')
  })
})
