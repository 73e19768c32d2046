import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkArguments } from '../../../src/tool/check-arguments.ts'
import type { JsonSchema } from '../../../src/core/model.ts'
import { toJsonSchema } from '../../../src/tool/to-json-schema.ts'

const object = (properties: Record<string, unknown>, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})

function check(schema: unknown, args: unknown) {
  return checkArguments(schema, toJsonSchema(schema, 'tool "t"'), args)
}

function value(schema: unknown, args: unknown): unknown {
  const checked = check(schema, args)
  return checked.ok ? checked.value : checked.problem
}

function problem(schema: unknown, args: unknown): string {
  const checked = check(schema, args)
  return checked.ok ? `accepted: ${JSON.stringify(checked.value)}` : checked.problem
}

describe('valid arguments', () => {
  it('come through untouched, also text that looks like another type', () => {
    const args = { text: 'true', any: '12', nothing: null }
    expect(value(object({ text: { type: 'string' }, any: {} }), args)).toBe(args)
  })

  it('get the defaults and transforms of a Zod schema', () => {
    expect(
      value(z.object({ n: z.number().default(3), at: z.string().transform((s) => s.length) }), { at: 'abc' }),
    ).toEqual({ n: 3, at: 3 })
  })

  it('may be missing when nothing is required', () => {
    expect(value(object({}), undefined)).toEqual({})
    expect(value(object({}), null)).toEqual({})
  })
})

describe('repair', () => {
  const inner = z.object({ deep: z.boolean(), count: z.number(), whole: z.int().optional() })

  it.each([
    ['"true" to a boolean', z.object({ a: z.boolean() }), { a: 'true' }, { a: true }],
    ['"false" to a boolean', object({ a: { type: 'boolean' } }), { a: 'false' }, { a: false }],
    ['numeric text to a number', z.object({ a: z.number() }), { a: '-1.5e2' }, { a: -150 }],
    ['numeric text to an integer', object({ a: { type: 'integer' } }), { a: '12' }, { a: 12 }],
    [
      'JSON text to an object, and inside it',
      z.object({ o: inner }),
      { o: '{"deep":"true","count":"2"}' },
      { o: { deep: true, count: 2 } },
    ],
    ['JSON text to an array, and inside it', z.object({ l: z.array(z.number()) }), { l: '["1",2]' }, { l: [1, 2] }],
    ['arguments that are JSON text as a whole', z.object({ a: z.number() }), '{"a":1}', { a: 1 }],
    [
      'null for an optional field',
      z.object({ a: z.string().optional(), b: z.number().default(1) }),
      { a: null, b: null },
      { b: 1 },
    ],
    [
      'one field and leaves text beside it',
      z.object({ on: z.boolean(), text: z.string() }),
      { on: 'true', text: 'true' },
      { on: true, text: 'true' },
    ],
    ['a field the schema forbids', z.strictObject({ a: z.number() }), { a: 1, b: 2 }, { a: 1 }],
    ['a field JSON Schema forbids', object({ a: {} }, { additionalProperties: false }), { a: 1, b: 2 }, { a: 1 }],
    ['values of a record', z.object({ r: z.record(z.string(), z.number()) }), { r: { x: '1' } }, { r: { x: 1 } }],
    [
      'elements of a tuple',
      z.object({ t: z.tuple([z.number(), z.boolean()]) }),
      { t: ['1', 'true'] },
      { t: [1, true] },
    ],
    ['a nullable number', z.object({ a: z.number().nullable() }), { a: '5' }, { a: 5 }],
    ['type lists', object({ a: { type: ['number', 'null'] } }), { a: '5' }, { a: 5 }],
    [
      'the alternative its discriminator names',
      z.object({
        u: z.discriminatedUnion('k', [
          z.object({ k: z.literal('a'), v: z.string() }),
          z.object({ k: z.literal('b'), v: z.number() }),
        ]),
      }),
      { u: { k: 'b', v: '3' } },
      { u: { k: 'b', v: 3 } },
    ],
    ['through $ref', object({ a: { $ref: '#/$defs/n' } }, { $defs: { n: { type: 'number' } } }), { a: '1' }, { a: 1 }],
    ['through allOf', object({ a: { allOf: [{ type: 'number' }, { minimum: 1 }] } }), { a: '1' }, { a: 1 }],
    [
      'a recursive schema',
      z.object({
        get next() {
          return z.object({ n: z.number() }).optional()
        },
        n: z.number(),
      }),
      { n: '1', next: { n: '2' } },
      { n: 1, next: { n: 2 } },
    ],
  ])('turns %s', (_what, schema, args, expected) => {
    expect(value(schema, args)).toEqual(expected)
  })

  it.each([
    ['"1" a boolean', { type: 'boolean' }, '1'],
    ['"yes" a boolean', { type: 'boolean' }, 'yes'],
    ['"True" a boolean', { type: 'boolean' }, 'True'],
    ['a number a boolean', { type: 'boolean' }, 1],
    ['a number text', { type: 'string' }, 1],
    ['empty text a number', { type: 'number' }, ''],
    ['hexadecimal text a number', { type: 'number' }, '0x10'],
    ['"1.5" an integer', { type: 'integer' }, '1.5'],
    ['digits beyond exact integers an integer', { type: 'integer' }, '12345678901234567890'],
    ['overflowing text a number', { type: 'number' }, '1e999'],
    ['broken JSON an object', { type: 'object' }, '{"a":'],
    ['an array an object', { type: 'object' }, '[1]'],
  ])('never makes %s', (_what, type, given) => {
    expect(problem(object({ a: type }, { required: ['a'] }), { a: given })).toContain('- a: must be')
  })

  it('does not drop null from a required field', () => {
    expect(problem(object({ a: { type: 'string' } }, { required: ['a'] }), { a: null })).toContain('got null')
  })

  it('never changes the arguments it was given', () => {
    const args = Object.freeze({ o: Object.freeze({ n: '1', extra: null }) })
    expect(value(object({ o: object({ n: { type: 'number' }, extra: { type: 'string' } }) }), args)).toEqual({
      o: { n: 1 },
    })
    expect(args).toEqual({ o: { n: '1', extra: null } })
  })
})

describe('a problem names the field, what was expected and what came', () => {
  it('for Zod', () => {
    const schema = z.object({
      city: z.string(),
      opts: z.object({ unit: z.enum(['c', 'f']) }),
      list: z.array(z.number()),
    })
    expect(problem(schema, { opts: { unit: 'k' }, list: [1, 'x'] }).split('\n')).toEqual([
      '- city: Invalid input: expected string, received undefined; got nothing',
      '- opts.unit: Invalid option: expected one of "c"|"f"; got "k"',
      '- list.1: Invalid input: expected number, received string; got "x"',
    ])
  })

  it('for each alternative of a Zod union', () => {
    const found = problem(z.object({ u: z.union([z.boolean(), z.object({ n: z.number() })]) }), { u: { n: 'x' } })
    expect(found).toMatch(
      /^- u: matches no alternative \(.*expected boolean.* \| n .*expected number.*\); got \{"n":"x"\}$/,
    )
  })

  it('for JSON Schema', () => {
    const schema = object(
      { a: { type: 'object', properties: { 'b/c': { enum: [1, 2] } } }, mail: { type: 'string', format: 'email' } },
      { required: ['d'] },
    )
    expect(
      problem(schema, { a: { 'b/c': 3 }, mail: 'x' })
        .split('\n')
        .sort(),
    ).toEqual([
      '- a.b/c: must be equal to one of the allowed values [1,2]; got 3',
      '- d: is required; got nothing',
      '- mail: must match format "email"; got "x"',
    ])
  })

  it('for arguments that are no object at all', () => {
    expect(problem(object({}), [1])).toBe('- arguments: must be object; got [1]')
  })

  it('and stays readable with many of them', () => {
    const found = problem(z.object({ l: z.array(z.number()) }), { l: Array.from({ length: 50 }, () => 'x') })
    expect(found.split('\n')).toHaveLength(21)
    expect(found).toContain('and 30 more')
  })

  it('for a schema that validates asynchronously', () => {
    expect(problem(z.object({ a: z.string().refine(async () => true) }), { a: 'x' })).toContain('Promise')
    const props = {
      vendor: 'acme',
      validate: async () => ({ value: 1 }),
      jsonSchema: { input: () => ({ type: 'object' }) },
    }
    expect(problem({ '~standard': props }, {})).toContain('asynchronously')
  })

  it('for a refinement that throws', () => {
    const schema = z.object({
      a: z.string().refine(() => {
        throw new Error('boom')
      }),
    })
    expect(problem(schema, { a: 'x' })).toContain('boom')
  })
})

it('follows the 2020-12 dialect when $schema says so', () => {
  const tuple = { type: 'array', prefixItems: [{ type: 'number' }], items: false }
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...object({ t: tuple }) }
  expect(check(schema, { t: [1] }).ok).toBe(true)
  expect(check(schema, { t: [1, 2] }).ok).toBe(false)
})

describe('whatever JSON comes', () => {
  const zod = z.object({
    a: z.string(),
    b: z.boolean().optional(),
    n: z.int().default(1),
    l: z.array(z.object({ x: z.number() })),
    u: z.union([z.number(), z.array(z.boolean()), z.object({ k: z.literal('k') })]),
    r: z.record(z.string(), z.number()),
  })
  const json = object(
    {
      a: { type: 'string' },
      self: { $ref: '#' },
      u: { anyOf: [{ type: 'number' }, { type: 'array', items: { type: 'boolean' } }] },
    },
    { required: ['a'], additionalProperties: false },
  )
  // Keys of the schemas are mixed in, so that the repair is reached, and not only the first refusal.
  const likely = fc.dictionary(fc.constantFrom('a', 'b', 'n', 'l', 'u', 'r', 'self', '__proto__'), fc.jsonValue(), {
    noNullPrototype: true,
  })

  it.each([
    ['Zod', zod],
    ['JSON Schema', json],
  ])('%s never throws, and what it accepts is accepted again', (_what, schema) => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), likely), (args) => {
        const before = JSON.stringify(args)
        const checked = check(schema, args)
        expect(JSON.stringify(args)).toBe(before)
        if (checked.ok) expect(check(schema, checked.value)).toEqual(checked)
        else expect(checked.problem).not.toBe('')
      }),
    )
  })

  it('never throws on nesting that overflows the stack', () => {
    const schema = object({ self: { $ref: '#' } }, { required: ['a'] })
    const deep = JSON.parse(`${'{"self":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as unknown
    expect(check(schema, deep).ok).toBe(false)
  })
})

describe('a parameter named like a property that every object has', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', '__defineGetter__']
  const schemas = (name: string, required: boolean): [string, unknown][] => [
    ['JSON Schema', object({ [name]: { type: 'string' } }, required ? { required: [name] } : {})],
    [
      'JSON Schema of a field',
      object({ in: object({ [name]: { type: 'string' } }, required ? { required: [name] } : {}) }),
    ],
    ['Zod', z.object({ [name]: required ? z.string() : z.string().optional() })],
    ['Zod of anything', z.object({ [name]: required ? z.unknown() : z.unknown().optional() })],
  ]

  for (const name of names) {
    it(`${name} may be left out where it is optional, and counts where it was sent`, () => {
      for (const [, schema] of schemas(name, false)) {
        const without = value(schema, { in: {} })
        expect(without).toBeTypeOf('object')
        expect(Object.hasOwn(without as object, name)).toBe(false)
        expect(check(schema, { [name]: 'Ferrari' }).ok).toBe(true)
      }
    })

    it(`${name} is missing where it is required and was not sent`, () => {
      for (const [what, schema] of schemas(name, true)) {
        expect([what, check(schema, { in: {} }).ok]).toEqual([what, false])
      }
    })
  }
})
