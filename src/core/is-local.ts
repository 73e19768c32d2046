/** Whether a server runs on this machine, as far as its address tells. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i

/** @param url of a server, or `host:port` */
export function isLocal(url: string): boolean {
  try {
    const { hostname, searchParams } = new URL(url.includes('://') ? url : `tcp://${url}`)
    // In a URL of PostgreSQL, these parameters would replace the host.
    return LOOPBACK.test(hostname) && !searchParams.has('host') && !searchParams.has('hostaddr')
  } catch {
    return false
  }
}
