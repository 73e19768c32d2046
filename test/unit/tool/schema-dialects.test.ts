/** Schemas as people write them: older drafts, without a type, and with patterns that JSON Schema does not allow. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../../src/core/model.ts'
import { toTool } from '../../../src/tool/to-tool.ts'
import type { Checked, Tool } from '../../../src/tool/tool.ts'
import { refusal } from '../agent/authoring.ts'

const take = (parameters: unknown): Tool => toTool({ name: 't', description: 'd', parameters, execute: () => 'done' })
const check = (parameters: unknown, args: unknown): Checked => take(parameters).check(args)

const DIALECTS: Record<string, string> = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'the newest': 'http://json-schema.org/schema#',
}

describe('a schema that names its draft', () => {
  it.each(Object.entries(DIALECTS))('%s is taken, and checks', (_draft, $schema) => {
    const schema = { $schema, type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] }
    expect(take(schema).parameters).not.toHaveProperty('$schema')
    expect([check(schema, { n: 1 }).ok, check(schema, { n: 0 }).ok, check(schema, {}).ok]).toEqual([true, false, false])
  })

  it('draft-04 keeps its meaning: exclusive bounds, ids', () => {
    const schema = {
      $schema: DIALECTS['draft-04'],
      id: 'http://example.org/range',
      type: 'object',
      properties: {
        id: { type: 'string' },
        n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        list: { type: 'array', items: [{ id: '#first', type: 'number', maximum: 5, exclusiveMaximum: true }] },
        data: { default: { minimum: 1, exclusiveMinimum: true } },
      },
    }
    expect([0, 1, 9, 10].map((n) => check(schema, { n }).ok)).toEqual([false, true, true, false])
    expect([4, 5].map((n) => check(schema, { list: [n] }).ok)).toEqual([true, false])
    expect(take(schema).parameters['properties']).toMatchObject({
      id: { type: 'string' },
      n: { exclusiveMinimum: 0, maximum: 9 },
      data: { default: { minimum: 1, exclusiveMinimum: true } },
    })
  })

  it('2019-09 has its own words', () => {
    const schema = { $schema: DIALECTS['2019-09'], type: 'object', dependentRequired: { a: ['b'] } }
    expect([check(schema, { a: 1, b: 1 }).ok, check(schema, { a: 1 }).ok]).toEqual([true, false])
  })
})

it('exclusive bounds as OpenAPI 3.0 writes them are taken without a draft too', () => {
  const schema = { type: 'object', properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } } }
  expect([check(schema, { n: 0 }).ok, check(schema, { n: 0.1 }).ok]).toEqual([false, true])
})

describe('a schema without a type is that of an object', () => {
  it.each<[string, JsonSchema, JsonSchema]>([
    ['nothing', {}, { type: 'object' }],
    ['only properties', { properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
  ])('%s', (_what, schema, parameters) => {
    expect(take(schema).parameters).toEqual(parameters)
    expect(check(schema, { a: 1 })).toEqual({ ok: true, value: { a: 1 } })
    for (const args of [[1], 1, 'text']) expect(check(schema, args).ok).toBe(false)
    expect(check(schema, '{"a":1}')).toEqual({ ok: true, value: { a: 1 } })
  })

  it('but not if it says otherwise', () => {
    for (const schema of [{ type: 'array' }, { $ref: '#/$defs/a', $defs: { a: {} } }, { enum: [1] }]) {
      expect(refusal('INVALID_TOOL', () => take(schema))).toContain('must be type "object"')
    }
  })
})

describe('a pattern', () => {
  const matches = (pattern: string, text: string): boolean =>
    check({ type: 'object', properties: { a: { type: 'string', pattern } } }, { a: text }).ok

  it('that works only without the u flag is taken', () => {
    expect([matches('^[\\w-.]+\\@x$', 'a-b.c@x'), matches('^[\\w-.]+\\@x$', 'a b@x')]).toEqual([true, false])
  })

  it('that needs the u flag has it', () => {
    expect([matches('^\\p{Lu}.$', 'É🌧'), matches('^\\p{Lu}.$', 'é🌧')]).toEqual([true, false])
  })

  it('that no flag helps is refused where the tool is made', () => {
    expect(refusal('INVALID_TOOL', () => matches('(?i)[a', 'x'))).toContain('tool "t": the JSON Schema is invalid')
  })
})

describe('a parameter named __proto__ is refused where the tool is made', () => {
  const properties = JSON.parse('{"__proto__": {"type": "string"}}') as JsonSchema
  it.each([
    ['JSON Schema', { type: 'object', properties }],
    ['a field of it', { type: 'object', properties: { a: { type: 'object', properties } } }],
    ['Zod', z.object({ ['__proto__']: z.string() })],
  ])('%s', (_what, schema) => {
    expect(refusal('INVALID_TOOL', () => take(schema))).toContain('tool "t": no parameter can be named "__proto__"')
  })
})
