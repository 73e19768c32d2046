/** Tells addresses of the public internet from all others: of this machine, its network, its cloud, or a tunnel to them. */
import ipaddr from 'ipaddr.js'

/** All global unicast addresses of IPv6 that were ever given out. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Looks public, but answers inside the cloud Azure only. */
const AZURE_HOST = '168.63.129.16'

/**
 * Whether an address is one of the public internet. An IPv4 address inside an IPv6 one counts as what it is; NAT64, 6to4
 * and Teredo, which lead to an IPv4 address, are not public.
 *
 * @param address in any spelling of an IP address; text that is none is not public
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || parsed.toString() === AZURE_HOST) return false
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(GLOBAL_V6)
}
