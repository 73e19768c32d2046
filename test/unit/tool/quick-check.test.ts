/** Which schemas are known to be checked quickly. The check of any other schema is watched. */
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isQuickToCheck } from '../../../src/tool/quick-check.ts'
import { toJsonSchema } from '../../../src/tool/to-json-schema.ts'

const quick = (schema: unknown): boolean => isQuickToCheck(schema, toJsonSchema(schema, 'tool "t"'))

describe('a schema without patterns and without code', () => {
  it.each<[string, unknown]>([
    ['no fields', z.object({})],
    ['texts and numbers with bounds', z.object({ path: z.string().min(1).max(200), line: z.int().gte(0).optional() })],
    [
      'lists, choices and defaults',
      z.object({ all: z.array(z.enum(['a', 'b'])).max(5), on: z.boolean().default(true) }),
    ],
    ['a strict object', z.strictObject({ a: z.literal(1), b: z.null(), c: z.unknown() })],
    ['JSON Schema', { type: 'object', properties: { a: { type: 'string', maxLength: 5 } }, required: ['a'] }],
    ['TypeBox', Type.Object({ a: Type.Number() })],
  ])('is quick: %s', (_, schema) => expect(quick(schema)).toBe(true))
})

describe('a schema that may take longer than its arguments are long', () => {
  it.each<[string, unknown]>([
    ['a pattern', z.object({ a: z.string().regex(/^(a+)+$/) })],
    ['a format', z.object({ a: z.email() })],
    ['a refinement', z.object({ a: z.string().refine((text) => text.length > 1) })],
    ['a refinement of the whole', z.object({ a: z.string() }).refine(() => true)],
    ['a transformation', z.object({ a: z.string().transform((text) => text.length) })],
    ['a pattern inside a list', z.object({ a: z.array(z.object({ b: z.string().regex(/x/) })) })],
    ['a pattern in what else comes', z.object({}).catchall(z.string().regex(/x/))],
    ['a pattern of JSON Schema', { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }],
    ['a format of JSON Schema', { type: 'object', properties: { a: { type: 'string', format: 'email' } } }],
    ['a schema that names itself', { type: 'object', properties: { a: { $ref: '#' } } }],
  ])('is not quick: %s', (_, schema) => expect(quick(schema)).toBe(false))
})
