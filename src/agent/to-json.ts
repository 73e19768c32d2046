/** JSON text that says no instead of dropping things: `JSON.stringify` leaves out functions and empties Maps. */

/**
 * @throws Error naming the field that is not JSON
 * @example toJson({ at: 1n }) // Error: "at" is a bigint
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (key, field: unknown) => {
    const kind = notJson(field)
    if (kind) throw new Error(key === '' ? `it is a ${kind}` : `"${key}" is a ${kind}`)
    return field
  })
}

function notJson(value: unknown): string | undefined {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return typeof value
  if (value instanceof Map) return 'Map'
  return value instanceof Set ? 'Set' : undefined
}
