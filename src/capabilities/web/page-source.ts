/** Where WebFetch gets its pages: by https, over redirects of the same host, not too often, and each only once in a while. */
import type { Ruled } from '../../tool/touch.ts'
import { guardedRequest, type Answer } from '../network/guarded-request.ts'
import { hostOf } from '../network/allowed-hosts.ts'
import type { NetworkGuard } from '../network/network-guard.ts'
import { NetworkRefusal } from '../network/network-refusal.ts'
import { HostPace } from './host-pace.ts'
import { Recent } from './recent.ts'

/** The page, or the other host that its own host sends the reader to. */
export type Fetched = { answer: Answer } | { elsewhere: URL; from: URL }

export interface FetchBounds {
  timeoutMs: number
  signal: AbortSignal
  /** The rule of the session about an address that the page redirects to. Unset: there is none. */
  ruled?: (to: URL) => Ruled | undefined
}

const REDIRECTS = 5
const SIZE_LIMIT = 10 * 1024 * 1024
const AGE_MS = 15 * 60_000
const KEPT_BYTES = 64 * 1024 * 1024
const ACCEPT = 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.8'

export class PageSource {
  readonly #guard: NetworkGuard
  readonly #pace: HostPace
  readonly #pages: Recent<Answer>

  /** @param now milliseconds of any clock */
  constructor(guard: NetworkGuard, now: () => number = Date.now) {
    this.#guard = guard
    this.#pace = new HostPace(now)
    this.#pages = new Recent({ ageMs: AGE_MS, sizeLimit: KEPT_BYTES, now })
  }

  /** @throws NetworkRefusal */
  async fetch(given: string, bounds: FetchBounds): Promise<Fetched> {
    const first = this.#toHttps(this.#guard.demand(given))
    let url = first
    for (let followed = 0; followed <= REDIRECTS; followed++) {
      const answer = this.#pages.get(url.href) ?? (await this.#request(url, bounds))
      // A page that was kept under the URL which had led to it leads there again.
      const to = redirectOf(answer) ?? (answer.url.href === url.href ? undefined : answer.url)
      if (!to) return { answer: this.#keep(first, answer) }
      const ruled = to.hostname === first.hostname ? undefined : bounds.ruled?.(to)
      if (ruled?.decision === 'deny') throw denied(url, to, ruled)
      if (ruled || !isSameHost(url, to)) return { elsewhere: to, from: url }
      url = this.#toHttps(this.#guard.demand(to))
    }
    throw new NetworkRefusal('network_error', `${first.host} redirects more than ${REDIRECTS} times.`)
  }

  async #request(url: URL, { timeoutMs, signal }: FetchBounds): Promise<Answer> {
    this.#pace.take(hostOf(url.hostname))
    return guardedRequest(this.#guard, url, { timeoutMs, signal, sizeLimit: SIZE_LIMIT, headers: { accept: ACCEPT } })
  }

  #keep(asked: URL, answer: Answer): Answer {
    if (answer.status !== 200) return answer
    for (const { href } of new Set([asked, answer.url])) this.#pages.set(href, answer, answer.body.length)
    return answer
  }

  /** A host that the author has opened may speak http only. */
  #toHttps(url: URL): URL {
    if (url.protocol === 'https:' || this.#guard.isOpened(url)) return url
    const secure = new URL(url)
    secure.protocol = 'https:'
    return secure
  }
}

function redirectOf({ url, status, headers }: Answer): URL | undefined {
  const to = headers.location
  return status >= 300 && status < 400 && to !== undefined && URL.canParse(to, url.href) ? new URL(to, url) : undefined
}

function denied(from: URL, to: URL, { rule }: Ruled): NetworkRefusal {
  const what = `${from.href} redirects to ${to.href}, which the rule ${rule} denies`
  return new NetworkRefusal('permission_denied', `Not requested: ${what}.`)
}

/** With or without `www.` a host is the same. */
function isSameHost(a: URL, b: URL): boolean {
  const bare = ({ hostname }: URL): string => hostOf(hostname).replace(/^www\./, '')
  return bare(a) === bare(b) && a.port === b.port
}
