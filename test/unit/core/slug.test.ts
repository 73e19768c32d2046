import { describe, expect, it } from 'vitest'
import { keepSecret } from '../../../src/core/secrets.ts'
import { slug } from '../../../src/core/slug.ts'

describe('slug', () => {
  it.each([
    ['Tea & Coffee', 'tea-coffee'],
    ['  What is known about coffee?  ', 'what-is-known-about'],
    ['São Paulo, Łódź, Straße', 'sao-paulo-lodz-strasse'],
    ['a'.repeat(60), 'a'.repeat(24)],
    ['x '.repeat(60), 'x-x-x-x-x-x-x-x-x-x-x-x'],
    ['-- --', ''],
    ['お茶について', ''],
    ['お茶 2', '2'],
    ['', ''],
  ])('makes of %j %j', (text, words) => {
    expect(slug(text)).toBe(words)
  })

  it('leaves out secrets, also in another spelling', () => {
    keepSecret('Hunter2-Hunter2')
    expect(slug('log in with Hunter2-Hunter2 now')).toBe('log-in-with-secret-now')
  })
})
