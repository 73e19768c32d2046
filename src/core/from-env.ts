/** Secrets by reference: an agent module names them, the worker that needs them reads them. */
import { StelloError } from './errors.ts'
import { keepSecret } from './secrets.ts'

/** A secret that stands in an environment variable of the worker. */
export interface FromEnv {
  /** The name of the variable. */
  readonly fromEnv: string
}

/**
 * Names a secret instead of writing it down. The worker reads it when it connects, and cuts it from every text that
 * leaves the worker. A value of fewer than 8 characters cannot be cut.
 *
 * @param name of an environment variable of the worker
 * @throws StelloError INVALID_ARGUMENT when the name is no name of a variable
 * @example mcp({ servers: { tickets: { url: 'https://tickets.example/mcp', token: fromEnv('TICKETS_TOKEN') } } })
 */
export function fromEnv(name: string): FromEnv {
  if (typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name)) return { fromEnv: name }
  throw new StelloError('INVALID_ARGUMENT', `fromEnv: ${JSON.stringify(name)} is no name of an environment variable`, {
    hint: "give its name, not its value: fromEnv('TICKETS_TOKEN')",
  })
}

export function isFromEnv(value: unknown): value is FromEnv {
  return typeof value === 'object' && value !== null && typeof (value as FromEnv).fromEnv === 'string'
}

/**
 * The text itself.
 *
 * @param where names the field in the error
 * @param env the variables of the worker
 * @throws StelloError INVALID_ARGUMENT when the variable is not set
 */
export function readText(
  value: string | FromEnv,
  where: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  if (typeof value === 'string') return value
  const secret = env[value.fromEnv]
  if (secret === undefined || secret === '') {
    throw new StelloError('INVALID_ARGUMENT', `${where}: the environment variable ${value.fromEnv} is not set`, {
      hint: `set ${value.fromEnv} where the worker runs, then start it again`,
    })
  }
  keepSecret(secret)
  return secret
}
