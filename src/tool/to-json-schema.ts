/** Turns an author's schema into the JSON Schema that a model is shown. */
import { z } from 'zod'
import { compile } from './json-schema.ts'
import { StelloError, messageOf } from '../core/errors.ts'
import type { JsonSchema } from '../core/model.ts'
import { modernise } from './modern-schema.ts'
import { standardOf, type StandardProps } from './standard-schema.ts'

/**
 * The JSON Schema of a tool's arguments: plain JSON, `type: 'object'` at the top, also where it was left out.
 *
 * @param schema Zod 4, JSON Schema or TypeBox, or any Standard Schema that has a JSON form
 * @param where names the tool in errors, e.g. `tool "fetch"`
 * @throws StelloError INVALID_TOOL naming `where` and the field
 * @example toJsonSchema(z.object({ city: z.string() }), 'tool "weather"')
 */
export function toJsonSchema(schema: unknown, where: string): JsonSchema {
  const { $schema: _dialect, ...given } = convert(schema, where)
  const json = saysNoType(given) ? { type: 'object', ...given } : given
  if (json['type'] !== 'object') {
    throw invalid(where, `the schema's top level must be type "object", not ${top(json)}; put the value into a field`)
  }
  const combined = ['anyOf', 'oneOf', 'allOf'].find((keyword) => keyword in json)
  if (combined) {
    throw invalid(where, `providers refuse "${combined}" at the schema's top level; put the alternatives into a field`)
  }
  refuseProto(json, where)
  return json
}

/** `{}` and `{ properties }` get `type: 'object'`: arguments are always an object. */
function saysNoType(json: JsonSchema): boolean {
  return ['type', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'].every((keyword) => json[keyword] === undefined)
}

/** Refuses the name at any depth: a parameter of that name never arrives (`parse-json.ts`). */
function refuseProto(json: unknown, where: string): void {
  if (typeof json !== 'object' || json === null) return
  const { properties, required } = json as JsonSchema
  const named = Object.hasOwn(Object(properties) as object, '__proto__')
  if (named || (Array.isArray(required) && required.includes('__proto__'))) {
    throw invalid(where, 'no parameter can be named "__proto__": JavaScript keeps that name for itself; rename it')
  }
  for (const each of Object.values(json)) refuseProto(each, where)
}

function convert(schema: unknown, where: string): JsonSchema {
  if (isZod(schema)) return fromZod(schema, where)
  const standard = standardOf(schema)
  if (standard) return fromStandard(standard, where)
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return fromJson(schema, where)
  throw invalid(where, "the schema is missing; without arguments give { type: 'object', properties: {} }")
}

export function isZod(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema
}

/** `io: 'input'`: the model writes the input, so a field with a default is optional. */
function fromZod(schema: z.ZodType, where: string): JsonSchema {
  try {
    return { ...z.toJSONSchema(schema, { io: 'input' }) } as JsonSchema
  } catch (error) {
    const field = fieldWithoutJson(schema)
    const at = field ? `field "${field.path}" is ${field.type}, which JSON has not; ${field.instead}` : messageOf(error)
    throw invalid(where, `the Zod schema has no JSON form: ${at}`, error)
  }
}

const INSTEAD: Record<string, string> = {
  date: 'use z.iso.datetime() and make the Date in execute',
  bigint: 'use z.int(), or z.string() for big numbers',
  map: 'use z.record()',
  set: 'use z.array()',
}

interface FieldWithoutJson {
  path: string
  type: string
  instead: string
}

/** The first field that Zod cannot express: with `unrepresentable: 'any'` it becomes the empty schema. */
function fieldWithoutJson(schema: z.ZodType): FieldWithoutJson | undefined {
  let found: FieldWithoutJson | undefined
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const { type } = zodSchema._zod.def
      if (found || Object.keys(jsonSchema).length > 0 || type === 'any' || type === 'unknown') return
      found = { path: fieldPath(path), type: `z.${type}()`, instead: INSTEAD[type] ?? 'use a type that JSON has' }
    },
  })
  return found
}

/** `['properties', 'trip', 'properties', 'days', 'items']` → `trip.days[]` */
function fieldPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (let i = 0; i < path.length; i++) {
    if (path[i] === 'properties') text += `${text && '.'}${String(path[++i])}`
    else if (path[i] === 'items') text += '[]'
    else if (path[i] === 'additionalProperties') text += '.*'
  }
  return text || '(top level)'
}

function fromStandard(standard: StandardProps, where: string): JsonSchema {
  if (!standard.jsonSchema) {
    throw invalid(where, `this ${standard.vendor} schema has no JSON form; use Zod 4, TypeBox or JSON Schema`)
  }
  try {
    return standard.jsonSchema.input({ target: 'draft-2020-12' })
  } catch (error) {
    throw invalid(where, `this ${standard.vendor} schema has no JSON form: ${messageOf(error)}`, error)
  }
}

/** Includes TypeBox: its schemas are JSON Schema with extra symbols, which the copy leaves out. */
function fromJson(schema: object, where: string): JsonSchema {
  try {
    compile(schema as JsonSchema)
    return JSON.parse(JSON.stringify(modernise(schema as JsonSchema))) as JsonSchema
  } catch (error) {
    throw invalid(where, `the JSON Schema is invalid: ${messageOf(error)}`, error)
  }
}

function top(json: JsonSchema): string {
  return json['type'] === undefined ? 'undefined' : JSON.stringify(json['type'])
}

function invalid(where: string, problem: string, cause?: unknown): StelloError {
  return new StelloError('INVALID_TOOL', `${where}: ${problem}`, { cause })
}
