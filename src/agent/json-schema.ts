/** JSON Schema validation: compiled once per schema object, never changes the data. */
import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { JsonSchema } from './model.ts'

const options = { strict: false, allErrors: true, logger: false } as const
const draft07 = new Ajv(options)
const draft2020 = new Ajv2020(options)
formats.default(draft07)
formats.default(draft2020)

const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** The validator of a schema; draft-07 unless `$schema` says 2020-12. Throws ajv's error when the schema is invalid. */
export function compile(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known) return known
  const ajv = String(schema['$schema']).includes('2020-12') ? draft2020 : draft07
  try {
    const validate = ajv.compile(schema)
    compiled.set(schema, validate)
    return validate
  } finally {
    // ajv would keep every schema for ever, and refuse a second one with the same $id.
    ajv.removeSchema(schema)
  }
}
