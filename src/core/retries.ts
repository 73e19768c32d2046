/** How often something that failed is tried again, and after what wait. */
import { toMs, type Duration } from './duration.ts'
import { StelloError, type ErrorCode } from './errors.ts'
import { isObject } from './is-object.ts'

/** How often something that failed is tried, and how long the first wait is. What is left out is the default. */
export interface RetrySettings {
  /** Attempts in all, the first one included: 1 means that nothing is tried again. */
  attempts?: number
  /** The wait after the first failure. It doubles with each further one, up to a minute for tools, 2 for models. */
  backoff?: Duration
}

/** The same as numbers. */
export interface Retries {
  /** In all, the first one included. */
  attempts: number
  /** Milliseconds. */
  backoffMs: number
}

const FIELDS = ['attempts', 'backoff']

/**
 * Checks settings of retries.
 *
 * @param where names them in errors, e.g. `tool "fetch": retries`
 * @returns only what was stated
 * @throws StelloError `code`, naming the field
 */
export function toRetries(settings: unknown, where: string, code: ErrorCode): Partial<Retries> {
  if (settings === undefined) return {}
  if (!isObject(settings))
    throw new StelloError(code, `${where}: must be an object like { attempts: 5, backoff: '1s' }`)
  const unknown = Object.keys(settings).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined)
    throw new StelloError(code, `${where}.${unknown}: is no setting; there are ${FIELDS.join(' and ')}`)
  const { attempts, backoff } = settings
  if (attempts !== undefined && !(Number.isSafeInteger(attempts) && (attempts as number) >= 1)) {
    throw new StelloError(code, `${where}.attempts: ${JSON.stringify(attempts)} is not a whole number of at least 1`)
  }
  return {
    ...(attempts !== undefined && { attempts: attempts as number }),
    ...(backoff !== undefined && { backoffMs: toMs(backoff as Duration, `${where}.backoff`, code) }),
  }
}
