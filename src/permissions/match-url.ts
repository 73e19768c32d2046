/** Matches addresses: `domain:example.com` is this host and all hosts below it. */
import type { Doubt } from './part.ts'

const DOMAIN = /^domain:(.+)$/

export function matchUrl(spec: string, url: string, doubt: Doubt): boolean {
  const wanted = DOMAIN.exec(spec)?.[1]
  if (wanted === undefined) return false
  const host = hostOf(url)
  // It cannot be read as an address, so the match stays in doubt.
  if (host === undefined) return doubt === 'wide'
  const domain = plain(wanted)
  return host === domain || host.endsWith(`.${domain}`)
}

/** The host of an address, in its one spelling. */
export function hostOf(url: string): string | undefined {
  try {
    return plain(new URL(url).hostname)
  } catch {
    return undefined
  }
}

function plain(host: string): string {
  return host.trim().toLowerCase().replace(/\.$/, '')
}
