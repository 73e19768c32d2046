/** Other names under which models send a parameter: each becomes the name the schema knows, before anything is checked. */
import { StelloError } from '../core/errors.ts'
import type { JsonSchema } from '../core/model.ts'

/** The other name → the parameter's own. */
export type Aliases = Readonly<Record<string, string>>

/**
 * Renames an alias only when the parameter's own name is missing. If two aliases of one parameter were sent, the first
 * counts.
 */
export function applyAliases(args: unknown, aliases: Aliases): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args
  const result = new Map<string, unknown>()
  for (const [key, value] of Object.entries(args)) {
    const name = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key
    if (name === key || !(Object.hasOwn(args, name) || result.has(name))) result.set(name, value)
  }
  return Object.fromEntries(result)
}

/** @throws StelloError INVALID_TOOL when an alias names no parameter, or is the name of a parameter itself */
export function checkAliases(aliases: unknown, { properties }: JsonSchema, where: string): Aliases {
  if (typeof aliases !== 'object' || aliases === null) {
    throw new StelloError('INVALID_TOOL', `${where}: aliases must be an object from the other name to the parameter's`)
  }
  const known = Object(properties) as object
  for (const [alias, name] of Object.entries(aliases)) {
    if (Object.hasOwn(known, alias)) {
      throw new StelloError('INVALID_TOOL', `${where}: alias "${alias}" is a parameter itself`)
    }
    if (typeof name !== 'string' || !Object.hasOwn(known, name)) {
      throw new StelloError('INVALID_TOOL', `${where}: alias "${alias}" stands for no parameter of the schema`)
    }
  }
  return aliases as Aliases
}
