/** Which values of a request's headers are secrets. */
import { keepSecret } from '../core/secrets.ts'

/**
 * The values of these headers are cut from everything that leaves the worker. Values of other headers are cut only from
 * the model's errors, because they may be plain words.
 */
const SECRET_HEADER = /auth|cookie|key|pass|secret|token/i

/** @returns the texts to cut from the model's errors */
export function keepSecretsOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!SECRET_HEADER.test(name)) return [value]
    // An error may quote the TOKEN of `Bearer TOKEN` or of `name=TOKEN; name=TOKEN` alone.
    const parts = value.split(/[\s;,]+/).flatMap((part) => [part, part.replace(/^[\w.-]+=/, '')])
    keepSecret(value, ...parts)
    return [value, ...parts]
  })
}
