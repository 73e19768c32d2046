/** What people type into cards, as values. */
import { describe, expect, it } from 'vitest'
import { indented, readJsonObject } from '../../../src/web/inbox/json-object.ts'
import { fieldValues, schemaFields } from '../../../src/web/inbox/schema-fields.ts'

describe('edited arguments', () => {
  it('are an object', () => {
    expect(readJsonObject('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } })
  })

  it.each(['', '{', '[]', 'null', '"a"', '1', '{"a":1,}'])('are refused before they are sent: %j', (text) => {
    expect(readJsonObject(text)).toMatchObject({ ok: false, problem: expect.stringMatching(/./) })
  })

  it('are shown in lines; what is cut stays as it is', () => {
    expect(indented('{"a":1}')).toBe('{\n  "a": 1\n}')
    expect(indented('{"a":"begi')).toBe('{"a":"begi')
  })
})

describe('the form of a question', () => {
  const fields = schemaFields({
    type: 'object',
    required: ['to', 'count'],
    properties: {
      to: { type: 'string', title: 'To' },
      count: { type: 'integer' },
      urgent: { type: 'boolean' },
      channel: { enum: ['mail', 'chat'] },
      note: { type: 'string' },
    },
  })!

  it('has a field for each plain property', () => {
    expect(fields.map(({ title, type, required }) => [title, type, required])).toEqual([
      ['To', 'text', true],
      ['count', 'number', true],
      ['urgent', 'yes-no', false],
      ['channel', 'choice', false],
      ['note', 'text', false],
    ])
  })

  it('gives values of the right types, and leaves out what stayed empty', () => {
    expect(fieldValues(fields, { to: 'a@b', count: '3' })).toEqual({ to: 'a@b', count: 3, urgent: false })
    expect(fieldValues(fields, { to: '', count: '0', urgent: 'true', channel: 'chat' })).toEqual({
      to: '',
      count: 0,
      urgent: true,
      channel: 'chat',
    })
  })

  it.each([
    { type: 'object' },
    { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } },
    { type: 'object', properties: { mixed: { enum: [1, 'a'] } } },
  ])('is typed as JSON where fields are not enough: %j', (schema) => {
    expect(schemaFields(schema)).toBeUndefined()
  })
})
