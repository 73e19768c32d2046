/**
 * The one rule for every request of a tool to a URL that a model, or a page, has named: http or https, no user or password
 * in it, and only addresses of the public internet. The address that was checked is the one that is connected to: a name is
 * resolved once, and its connection is made to that answer. Each connection is checked, so each redirect is as well.
 */
import { lookup as resolveName } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { allowedHosts, hostOf } from './allowed-hosts.ts'
import { NetworkRefusal } from './network-refusal.ts'

export interface GuardOptions {
  /** Hosts that are reached whatever their address is: `host`, or `host:port`. */
  allow?: readonly string[]
  /** Names the pack in errors. */
  where: string
  /** All addresses of a name. Default: the resolver of the system. */
  resolve?: (host: string) => Promise<LookupAddress[]>
}

export interface NetworkGuard {
  /** The URL, if it may be asked for. @throws NetworkRefusal */
  demand(url: string | URL): URL
  /** Whether the author has opened the host of a URL by name. */
  isOpened(url: URL): boolean
  /** Resolves a name for a connection to a port, and refuses the answer when it is not of the public internet. */
  lookupFor(port: number): LookupFunction
  /** Opens a connection. A refusal is thrown, or comes as the socket's error. @throws NetworkRefusal */
  connect(hostname: string, port: number): Socket
}

const PORTS: readonly number[] = [80, 443]
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
/** Names of this machine and its network. A name without a dot is one of them too. */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa)$/
/** All global unicast addresses of IPv6 that were ever given out. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Looks public, but answers inside the cloud Azure only. */
const AZURE_HOST = '168.63.129.16'

/** @throws StelloError INVALID_ARGUMENT when an entry of `allow` is no host */
export function networkGuard({ allow = [], where, resolve = allAddresses }: GuardOptions): NetworkGuard {
  const isAllowed = allowedHosts(allow, `${where}: allow`)

  const demandHost = (hostname: string, port: number): string => {
    const host = hostOf(hostname)
    if (isAllowed(host, port)) return host
    if (!PORTS.includes(port)) throw denied(`port ${port} of ${host} is not open: only 80 and 443 are`)
    if (isIP(host) === 0 ? isLocalName(host) : !isPublicAddress(host)) throw notPublic(host)
    return host
  }
  const resolved = async (hostname: string, port: number): Promise<LookupAddress[]> => {
    const host = demandHost(hostname, port)
    const found = await resolve(host)
    if (isAllowed(host, port) || found.every(({ address }) => isPublicAddress(address))) return found
    throw notPublic(host)
  }
  const lookupFor = (port: number): LookupFunction => {
    return (hostname, { all }, answer) => {
      resolved(hostname, port).then(
        (found) => {
          const [first] = found
          if (all) answer(null, found)
          else if (first) answer(null, first.address, first.family)
          else answer(new Error(`${hostname} has no address`), '')
        },
        (error: Error) => answer(error, ''),
      )
    }
  }
  return {
    demand(given) {
      const url = parsed(given)
      if (!(url.protocol in DEFAULT_PORTS)) throw denied(`${url.protocol} is not allowed: only http and https are`)
      if (url.username !== '' || url.password !== '') throw denied('a URL with a user or a password is not allowed')
      demandHost(url.hostname, portOf(url))
      return url
    },
    isOpened: (url) => isAllowed(hostOf(url.hostname), portOf(url)),
    lookupFor,
    connect(hostname, port) {
      const host = demandHost(hostname, port)
      return connect({ host, port, lookup: lookupFor(port), autoSelectFamily: true })
    },
  }
}

export function portOf({ port, protocol }: URL): number {
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)
}

function parsed(given: string | URL): URL {
  const text = String(given)
  if (URL.canParse(text)) return new URL(text)
  throw denied(`${text.slice(0, 200)} is no URL: give one such as https://example.com/page`)
}

function isLocalName(host: string): boolean {
  return !host.includes('.') || LOCAL_NAMES.test(host)
}

/**
 * Whether an address is one of the public internet, and not of this machine, its network, its cloud, or a tunnel to
 * them. An IPv4 address inside an IPv6 one counts as what it is; NAT64, 6to4 and Teredo, which lead to an IPv4 address,
 * are not public.
 *
 * @param address in any spelling of an IP address; text that is none is not public
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_HOST) return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_V6)
}

function allAddresses(host: string): Promise<LookupAddress[]> {
  return resolveName(host, { all: true })
}

function notPublic(host: string): NetworkRefusal {
  return denied(`${host} is not an address of the public internet`)
}

function denied(problem: string): NetworkRefusal {
  return new NetworkRefusal('permission_denied', `Not requested: ${problem}.`)
}
