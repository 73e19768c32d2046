/** Whether arguments can be checked in a time that their length bounds: then nobody has to watch over the check. */
import type { z } from 'zod'
import type { JsonSchema } from '../core/model.ts'
import { isZod } from './to-json-schema.ts'
import { standardOf } from './standard-schema.ts'

/** Checks that take a time linear in the length of the text or list. */
const LINEAR_CHECKS: readonly string[] = [
  'greater_than',
  'length_equals',
  'less_than',
  'max_length',
  'min_length',
  'multiple_of',
  'number_format',
]
const LEAVES: readonly string[] = ['any', 'boolean', 'enum', 'literal', 'never', 'null', 'number', 'unknown']
/** Keywords of JSON Schema that bring a pattern, compare every element with every other, or go round in circles. */
const SLOW_KEYWORDS: readonly string[] = [
  '$dynamicRef',
  '$recursiveRef',
  '$ref',
  'format',
  'pattern',
  'patternProperties',
  'uniqueItems',
]

/**
 * True only where the schema is known to hold no regular expression and no code of the author. Whatever is not known
 * is taken for slow.
 *
 * @param schema as the author gave it
 * @param parameters its JSON form
 */
export function isQuickToCheck(schema: unknown, parameters: JsonSchema): boolean {
  if (isZod(schema)) return isQuickZod(schema)
  return standardOf(schema) === undefined && !hasSlowKeyword(schema) && !hasSlowKeyword(parameters)
}

function isQuickZod(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod as { def: z.core.$ZodTypes['_zod']['def'] }
  const checks = def.checks ?? []
  if (!checks.every((check) => LINEAR_CHECKS.includes(check._zod.def.check))) return false
  // A text of a format is compared with a pattern.
  if (def.type === 'string') return !('format' in def)
  if (def.type === 'object') {
    return Object.values(def.shape).every(isQuickZod) && (def.catchall === undefined || isQuickZod(def.catchall))
  }
  if (def.type === 'array') return isQuickZod(def.element)
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return isQuickZod(def.innerType)
  return LEAVES.includes(def.type)
}

/** A parameter that is named like a keyword counts as one: it only means that somebody watches. */
function hasSlowKeyword(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false
  return Object.entries(json).some(([key, value]) => SLOW_KEYWORDS.includes(key) || hasSlowKeyword(value))
}
