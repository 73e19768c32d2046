/** The error text when no worker serves an agent. Must import nothing heavy: the command line uses it too. */
export function notServed(agent: string, served: readonly string[]): string {
  return `no worker serves agent "${agent}"; ${servedNow(served)}`
}

export function servedNow(served: readonly string[]): string {
  return served.length > 0 ? `served now: ${served.join(', ')}` : 'no worker serves any agent now'
}
