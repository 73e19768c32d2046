/** Arguments are validated first. Only when that fails, they are repaired and validated again. */
import { z } from 'zod'
import { coerce } from './coerce.ts'
import { messageOf } from '../core/errors.ts'
import { compile } from './json-schema.ts'
import type { JsonSchema } from '../core/model.ts'
import { describeIssues, fromAjvError, fromStandardIssue } from './problem.ts'
import { isZod } from './to-json-schema.ts'
import { standardOf, type StandardResult } from './standard-schema.ts'
import { isQuickToCheck } from './quick-check.ts'
import type { Check, Checked } from './tool.ts'

/**
 * @param rename applied to the arguments first
 * @returns the check of a tool with that schema
 */
export function checkOf(
  schema: unknown,
  parameters: JsonSchema,
  rename: (args: unknown) => unknown = (args) => args,
): Check {
  const check = (args: unknown): Checked => checkArguments(schema, parameters, rename(args))
  return Object.assign(check, { quick: isQuickToCheck(schema, parameters) })
}

/**
 * Checks a model's arguments against a tool's schema. Never throws, whatever JSON comes; never changes `args`.
 *
 * @param schema what the author gave; it decides, and its defaults and transforms are applied
 * @param parameters its JSON form, which the repair follows
 * @param args parsed arguments; none (null, undefined) count as `{}`
 * @example checkArguments(z.object({ n: z.number() }), parameters, { n: '3' }) // { ok: true, value: { n: 3 } }
 */
export function checkArguments(schema: unknown, parameters: JsonSchema, args: unknown): Checked {
  const given = args ?? {}
  try {
    const first = validate(schema, parameters, given)
    return first.ok ? first : validate(schema, parameters, coerce(given, parameters))
  } catch (error) {
    return { ok: false, problem: `the arguments could not be checked: ${messageOf(error)}` }
  }
}

function validate(schema: unknown, parameters: JsonSchema, args: unknown): Checked {
  const standard = isZod(schema) ? undefined : standardOf(schema)
  if (!isZod(schema) && !standard) return validateJson(schema as JsonSchema, args)
  // Own fields only: otherwise a missing parameter named `constructor` would be the one that every object has.
  const own = namesInherited(parameters) ? withoutPrototype(args) : args
  const result = standard ? standard.validate(own) : parseZod(schema as z.ZodType, own)
  if (result instanceof Promise) {
    result.catch(() => {})
    throw new Error('the schema validates asynchronously, which is not supported; check that in execute')
  }
  if (!result.issues) return { ok: true, value: result.value }
  return { ok: false, problem: describeIssues(result.issues, fromStandardIssue, args) }
}

/** Zod is not asked through `~standard`, which takes a refinement that throws for an asynchronous one. */
function parseZod(schema: z.ZodType, args: unknown): StandardResult {
  const parsed = z.safeParse(schema, args)
  return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues }
}

function namesInherited(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const names = Object.keys(Object((schema as JsonSchema)['properties']) as object)
  return names.some((name) => name in Object.prototype) || Object.values(schema).some(namesInherited)
}

/** Copies at every depth. */
function withoutPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototype)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.entries(value).map(([key, each]): [string, unknown] => [key, withoutPrototype(each)])
  return Object.assign(Object.create(null) as object, Object.fromEntries(copy))
}

function validateJson(schema: JsonSchema, args: unknown): Checked {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { ok: false, problem: describeIssues(['must be object'], (expected) => ({ path: [], expected }), args) }
  }
  const check = compile(schema)
  if (check(args)) return { ok: true, value: args }
  return { ok: false, problem: describeIssues(check.errors ?? [], fromAjvError, args) }
}
