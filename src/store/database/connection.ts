/**
 * How connections to PostgreSQL notice that the other end has vanished, because its machine lost power or the network
 * was cut. The system's own limits are hours for an idle connection and a quarter of an hour for a question on its way.
 */
import type { ClientConfig } from 'pg'

/** Both ends send a probe after this much silence, then one each second, and give up after ten: 15 s in all. */
const SILENCE_S = 5
const PROBES = 10
/**
 * The server's limit for its clients: for so long, a dead machine keeps its liveness lock and the rows that its
 * transactions hold.
 */
const SERVER_OPTIONS = [
  `tcp_keepalives_idle=${SILENCE_S}`,
  'tcp_keepalives_interval=1',
  `tcp_keepalives_count=${PROBES}`,
  `tcp_user_timeout=${(SILENCE_S + PROBES) * 1000}`,
]
const CONNECT_WITHIN_MS = 10_000

/** For a connection that is silent on purpose: a server may be configured to cut silent ones. */
export const NEVER_IDLE: readonly string[] = ['idle_session_timeout=0']

/**
 * @param name what PostgreSQL lists the connection as
 * @param url its `options` are added to ours, and win over them
 * @param settings further settings of the server, as `name=value`
 */
export function connectionConfig(url: string, name: string, settings: readonly string[] = []): ClientConfig {
  const given = withoutOptions(url)
  return {
    connectionString: given.url,
    application_name: name,
    options: [...[...SERVER_OPTIONS, ...settings].map((setting) => `-c ${setting}`), ...given.options].join(' '),
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    // Node itself sets ten probes, one each second.
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENCE_S * 1000,
  }
}

/** The driver uses the options of a URL instead of all others. */
function withoutOptions(url: string): { url: string; options: string[] } {
  const [base, query] = url.split('?', 2)
  const params = new URLSearchParams(query)
  const options = params.getAll('options')
  params.delete('options')
  return options.length > 0 ? { url: `${base}?${params.toString()}`, options } : { url, options }
}
