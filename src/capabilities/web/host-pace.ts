/** Bounds how often one host is asked, so that a model in a circle is no attack on it. */
import { NetworkRefusal } from '../network/network-refusal.ts'

const REQUESTS = 10
const WINDOW_MS = 60_000
/** Hosts that are remembered; the one not asked for the longest time is forgotten. */
const HOSTS = 1000

export class HostPace {
  readonly #now: () => number
  readonly #asked = new Map<string, number[]>()

  /** @param now milliseconds of any clock */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts a request. @throws NetworkRefusal when the host was asked ten times within a minute */
  take(host: string): void {
    const now = this.#now()
    const times = (this.#asked.get(host) ?? []).filter((time) => time > now - WINDOW_MS)
    const [first = now] = times
    if (times.length >= REQUESTS) {
      const seconds = Math.ceil((first + WINDOW_MS - now) / 1000)
      throw new NetworkRefusal(
        'network_error',
        `${host} was asked ${REQUESTS} times within a minute: ask it again in ${seconds} s, or go on without it.`,
      )
    }
    this.#asked.delete(host)
    this.#asked.set(host, [...times, now])
    const oldest = this.#asked.size > HOSTS ? this.#asked.keys().next().value : undefined
    if (oldest !== undefined) this.#asked.delete(oldest)
  }
}
