/** The list of secrets in an agent's definition. */
import { canBeSecret, LONGEST_SECRET, SHORTEST_SECRET } from '../core/secrets.ts'

/** The problem with the list, in words that never show an entry. */
export function redactProblem(redact: unknown): string | undefined {
  if (!Array.isArray(redact)) return "redact: must be a list of texts, e.g. [process.env['DB_PASSWORD']]"
  const wrong = redact.findIndex((secret) => secret !== undefined && secret !== '' && !isSecret(secret))
  if (wrong < 0) return undefined
  return `redact[${wrong}]: must be a text of ${SHORTEST_SECRET} to ${LONGEST_SECRET} characters (a shorter one would be cut out of words)`
}

function isSecret(secret: unknown): boolean {
  return typeof secret === 'string' && canBeSecret(secret)
}
