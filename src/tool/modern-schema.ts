/** Converts draft-04 and OpenAPI 3.0 to draft-07, which ajv and providers know. Never changes what is allowed. */
import type { JsonSchema } from '../core/model.ts'
import { isObject } from '../core/is-object.ts'

const ONE = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
]
const LISTS = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']
const MAPS = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']

/**
 * A copy in which `exclusiveMinimum: true` is the number it stands for, and, in draft-04, `id` is `$id`. Data in it
 * (`default`, `enum`, `examples`) stays as it is.
 *
 * @example modernise({ minimum: 0, exclusiveMinimum: true }) // { exclusiveMinimum: 0 }
 */
export function modernise(schema: JsonSchema): JsonSchema {
  return modern(schema, String(schema['$schema']).includes('draft-04')) as JsonSchema
}

function modern(schema: unknown, draft04: boolean): unknown {
  if (!isObject(schema)) return schema
  const next = (value: unknown): unknown => modern(value, draft04)
  const fields = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'minimum' || key === 'maximum') return isExclusive(schema, key) ? [] : [[key, value]]
    if (key === 'exclusiveMinimum' && typeof value === 'boolean') return value ? [[key, schema['minimum']]] : []
    if (key === 'exclusiveMaximum' && typeof value === 'boolean') return value ? [[key, schema['maximum']]] : []
    if (draft04 && key === 'id' && typeof value === 'string') return [['$id', value]]
    if (LISTS.includes(key) && Array.isArray(value)) return [[key, value.map(next)]]
    if (MAPS.includes(key) && isObject(value)) return [[key, mapValues(value, next)]]
    return [[key, ONE.includes(key) ? next(value) : value]]
  })
  return Object.fromEntries(fields)
}

function isExclusive(schema: JsonSchema, key: 'minimum' | 'maximum'): boolean {
  return schema[key === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'] === true
}

function mapValues(map: JsonSchema, next: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, next(value)]))
}
