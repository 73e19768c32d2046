/** What can be read of arguments that are still streaming in. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PARTIAL_LIMIT, readPartial } from '../../../src/activities/model/partial-arguments.ts'

it.each([
  ['', undefined],
  ['  ', undefined],
  ['[1', undefined],
  ['{', {}],
  ['{"ci', {}],
  ['{"city":"Os', { city: 'Os' }],
  ['{"city":"Oslo","days":1', { city: 'Oslo' }],
  ['{"city":"Oslo","days":12}', { city: 'Oslo', days: 12 }],
  ['{"deep":tr', {}],
  ['{"trip":{"stops":["a","b', { trip: { stops: ['a', 'b'] } }],
  ['{"text":"half an escape \\u00', { text: 'half an escape ' }],
  ['{"__proto__":{"admin":true},"a":"b', { a: 'b' }],
])('%s reads %o', (text, value) => {
  expect(readPartial(text)).toEqual(value)
})

it('never throws, and a whole object is read as it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), fc.nat(), (object, at) => {
      const text = JSON.stringify(object)
      readPartial(text.slice(0, at % (text.length + 1)))
      if (!text.includes('__proto__')) expect(readPartial(text)).toEqual(JSON.parse(text))
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => void readPartial(`{${text}`)))
  expect(() => readPartial(`{"a":${'['.repeat(30_000)}`)).not.toThrow()
})

it('text that is too long for people is not read at all', () => {
  expect(readPartial(`{"a":"${'x'.repeat(PARTIAL_LIMIT)}`) === undefined).toBe(true)
})

it('a prototype is not read', () => {
  expect(readPartial('{"__proto__":{"admin":true},"a":"b')).not.toHaveProperty('admin')
})
