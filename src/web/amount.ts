/** Numbers as people read them. Pure. */

/** @example amount(12_345) // '12.3k' */
export function amount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 10_000) return `${(count / 1000).toFixed(1)}k`
  if (count < 1_000_000) return `${Math.round(count / 1000)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** US dollars. @example dollars(0.0123) // '$0.012' */
export function dollars(usd: number): string {
  return `$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}`
}

/** How old something is, as short as can be. @example age(now - 90_000, now) // '1 min' */
export function age(since: string, now: number): string {
  const minutes = Math.max(0, now - Date.parse(since)) / 60_000
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${Math.floor(minutes)} min`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`
  return `${Math.floor(minutes / 60 / 24)} d`
}
