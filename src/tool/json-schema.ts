/** JSON Schema validation: compiled once per schema object, never changes the data. */
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { JsonSchema } from '../core/model.ts'
import { modernise } from './modern-schema.ts'

/**
 * Patterns are Unicode, as in JSON Schema. A pattern that only works without the flag (`\_`, `[\w-.]`) runs without it.
 */
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    try {
      return new RegExp(pattern, flags)
    } catch {
      return new RegExp(pattern)
    }
  },
  { code: 'regExp' },
)

/** `ownProperties`: a parameter named `constructor` counts only when it was sent, not because every object has one. */
const options = { strict: false, allErrors: true, logger: false, ownProperties: true, code: { regExp } } as const
const draft07 = new Ajv(options)
const draft2019 = new Ajv2019(options)
const draft2020 = new Ajv2020(options)
for (const ajv of [draft07, draft2019, draft2020]) formats.default(ajv)

const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/**
 * The validator of a schema, in the draft that `$schema` names: 04, 06, 07, 2019-09 or 2020-12; else draft-07. Throws
 * ajv's error when the schema is invalid.
 */
export function compile(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known) return known
  const { $schema: dialect, ...own } = modernise(schema)
  const ajv = ajvOf(String(dialect))
  try {
    const validate = ajv.compile(own)
    compiled.set(schema, validate)
    return validate
  } finally {
    // A new instance each time: ajv keeps every schema for ever, and refuses a second one with the same $id.
    ajv.removeSchema(own)
  }
}

/** Draft-06 means the same in draft-07. Draft-04 was converted to draft-07 before. */
function ajvOf(dialect: string): Ajv {
  if (dialect.includes('2020-12')) return draft2020
  return dialect.includes('2019-09') ? draft2019 : draft07
}
