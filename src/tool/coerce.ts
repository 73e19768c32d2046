/**
 * Repairs the slips that models make in tool arguments. It is used only after validation failed, and only where the
 * schema expects another type than the one that came: text stays text wherever text is allowed. Never guesses ("1",
 * "yes").
 */
import type { JsonSchema } from '../core/model.ts'
import { parseJson } from '../core/parse-json.ts'
import { isObject } from '../core/is-object.ts'

type Json = Record<string, unknown>

/**
 * A repaired copy of the arguments. A value that cannot be repaired stays as it is.
 *
 * "true"/"false" → boolean, numeric text → number, JSON text → object or array, null dropped from optional fields,
 * unknown fields dropped where the schema forbids them.
 *
 * @example coerce({ deep: 'true' }, { type: 'object', properties: { deep: { type: 'boolean' } } }) // { deep: true }
 */
export function coerce(value: unknown, schema: JsonSchema): unknown {
  return repair(value, schema, schema)
}

function repair(value: unknown, given: unknown, root: JsonSchema): unknown {
  const schema = resolve(given, root)
  if (!schema) return value
  const typed = typeof value === 'string' && !accepts(value, schema, root) ? fromText(value, typesOf(schema)) : value
  const parts = [...list(schema['allOf']), pick(typed, schema, root)]
  const whole = parts.reduce((result, part) => repair(result, part, root), typed)
  if (Array.isArray(whole)) return repairItems(whole, schema, root)
  return isObject(whole) ? repairFields(whole, schema, root) : whole
}

/**
 * The alternative of an anyOf/oneOf that the value is repaired towards: one that accepts the value's type, else one
 * that its text can become.
 */
function pick(value: unknown, schema: Json, root: JsonSchema): unknown {
  const alternatives = [...list(schema['anyOf']), ...list(schema['oneOf'])]
  const fitting = alternatives.filter((each) => accepts(value, resolve(each, root), root))
  if (fitting.length > 0)
    return fitting.find((each) => isObject(value) && fits(value, resolve(each, root), root)) ?? fitting[0]
  return typeof value === 'string' ? alternatives.find((each) => repair(value, each, root) !== value) : undefined
}

/** Whether an object has an alternative's required fields and its constants (the discriminator). */
function fits(value: Json, schema: Json | undefined, root: JsonSchema): boolean {
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  return (
    list(schema?.['required']).every((key) => Object.hasOwn(value, String(key))) &&
    Object.entries(properties).every(([key, property]) => {
      const field = resolve(property, root)
      return !field || !('const' in field) || (Object.hasOwn(value, key) && field['const'] === value[key])
    })
  )
}

function repairFields(value: Json, schema: Json, root: JsonSchema): Json {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = new Set(list(schema['required']))
  const rest = schema['additionalProperties']
  const closed = rest === false && !('patternProperties' in schema)
  const fields = Object.entries(value).flatMap(([key, field]): Array<[string, unknown]> => {
    if (!Object.hasOwn(properties, key)) return closed ? [] : [[key, repair(field, rest, root)]]
    const property = properties[key]
    if (field === null && !required.has(key) && !accepts(null, resolve(property, root), root)) return []
    return [[key, repair(field, property, root)]]
  })
  return Object.fromEntries(fields)
}

function repairItems(value: unknown[], schema: Json, root: JsonSchema): unknown[] {
  // Tuples are in `items` in draft-07, in `prefixItems` in 2020-12.
  const tuple = Array.isArray(schema['items']) ? schema['items'] : list(schema['prefixItems'])
  return value.map((item, index) => repair(item, index < tuple.length ? tuple[index] : schema['items'], root))
}

function fromText(text: string, types: ReadonlySet<unknown>): unknown {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  const parsed = parse(text)
  if (typeof parsed === 'number') {
    const fitting = types.has('number') || (types.has('integer') && Number.isSafeInteger(parsed))
    return fitting && Number.isFinite(parsed) ? parsed : text
  }
  if (types.has('array') && Array.isArray(parsed)) return parsed
  return types.has('object') && isObject(parsed) ? parsed : text
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Whether the schema accepts the value's type, and for plain values its enum. */
function accepts(value: unknown, schema: Json | undefined, root: JsonSchema): boolean {
  if (!schema) return true
  if ('const' in schema) return schema['const'] === value || isObject(schema['const'])
  if (Array.isArray(schema['enum']) && !isObject(value)) return schema['enum'].includes(value)
  const alternatives = [...list(schema['anyOf']), ...list(schema['oneOf'])]
  const types = typesOf(schema)
  return (
    (types.size === 0 || types.has(typeOf(value)) || (types.has('integer') && Number.isInteger(value))) &&
    (alternatives.length === 0 || alternatives.some((each) => accepts(value, resolve(each, root), root)))
  )
}

/** Follows local references. A reference that leads nowhere, or in a circle, gives no schema. */
function resolve(schema: unknown, root: JsonSchema): Json | undefined {
  let current = schema
  for (let hops = 0; hops < 10; hops++) {
    if (!isObject(current)) return undefined
    if (typeof current['$ref'] !== 'string') return current
    current = lookUp(current['$ref'], root)
  }
  return undefined
}

function lookUp(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#')) return undefined
  const keys = reference.slice(1).split('/').slice(1)
  return keys.reduce<unknown>((node, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined
  }, root)
}

function typesOf(schema: Json): ReadonlySet<unknown> {
  return new Set(Array.isArray(schema['type']) ? schema['type'] : schema['type'] === undefined ? [] : [schema['type']])
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
