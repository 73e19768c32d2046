/** The hosts that an author has opened by name. They are reached whatever their address is. */
import { StelloError } from '../../core/errors.ts'

/** `host`, or `host:port`; an IPv6 address stands in brackets. */
const ENTRY = /^(\[[^\]]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?$/

/** Whether a host, as `hostOf` gives it, is allowed on a port. */
export type AllowedHosts = (host: string, port: number) => boolean

/**
 * @param where names the option in the error
 * @throws StelloError INVALID_ARGUMENT naming the entry
 * @example allowedHosts(['intranet.example.com', 'localhost:8080'], 'web: allow')
 */
export function allowedHosts(entries: readonly string[], where: string): AllowedHosts {
  const known = new Set(entries.map((entry) => normalEntry(entry, where)))
  return (host, port) => known.has(host) || known.has(`${host}:${port}`)
}

/** The host of a URL, or of a socket, in one spelling: without brackets and without the dot at its end. */
export function hostOf(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

function normalEntry(entry: string, where: string): string {
  const [, host = '', port] = ENTRY.exec(entry) ?? []
  if (host === '' || !URL.canParse(`http://${host}`)) {
    throw new StelloError('INVALID_ARGUMENT', `${where}: '${entry}' is no host`, {
      hint: "give the host, or host and port: 'intranet.example.com', 'localhost:8080', '[::1]:8080'",
    })
  }
  const name = hostOf(new URL(`http://${host}`).hostname)
  return port === undefined ? name : `${name}:${port}`
}
