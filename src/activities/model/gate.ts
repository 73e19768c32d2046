/**
 * Decides whether one worker may ask one provider now. A circuit breaker as a pure machine: time and
 * randomness come from outside, and nothing here waits. `gates.ts` puts a queue before it.
 *
 * Invariants, each held by a test:
 *  - While the provider says wait, nobody asks it. When the wait is over, one probe does, and never a second one beside it.
 *  - A wait that the provider has named is kept exactly.
 *  - After a probe that was served, `FIRST_FEW` may ask at once, and twice as many after each success.
 */

/** The first wait of an outage. Each refused probe doubles it. */
const FIRST_WAIT_MS = 1000
/** The longest wait between two probes, unless the provider names a longer one. */
const LONGEST_PROBE_WAIT_MS = 2 * 60_000
/** A wait is made longer by at most this part of it, so that the workers of a fleet do not probe together. */
const JITTER = 0.25
/** Failures in a row, without a success in between, after which the provider is away although it has not said so. */
const STRIKES = 3
const FIRST_FEW = 4
/** If so many sessions may ask at once, the gate is fully open. */
const ALL = 128

/** How a provider refused. */
export interface Refusal {
  /** In a few words, for people: `429`. */
  why: string
  /** The provider itself says that it is busy or away, so one refusal is enough. */
  told: boolean
  /** How long to wait, as the provider names it, in milliseconds. */
  waitMs?: number
}

/** A provider that is away. */
export interface Outage {
  /** When it was last known to answer, on the gate's clock. */
  since: number
  why: string
  told: boolean
}

/** The permission to ask once. It is given back by exactly one of `served`, `refused` and `left`. */
export interface Ticket {
  readonly epoch: number
  readonly probe: boolean
}

type State =
  | { kind: 'open'; strikes: number; since: number }
  | { kind: 'closed'; until: number }
  | { kind: 'probing' }
  | { kind: 'opening'; allowed: number; asking: number }

export class Gate {
  readonly #random: () => number
  readonly #longestWaitMs: number
  #state: State = { kind: 'open', strikes: 0, since: 0 }
  /** Counts the closings. A ticket of an earlier epoch says little about the provider now. */
  #epoch = 0
  /** Closings of this outage so far. */
  #waits = 0
  #outage: Outage | undefined

  /** @param longestWaitMs a provider that names a longer wait is probed as if it had named none */
  constructor({
    random = Math.random,
    longestWaitMs = Infinity,
  }: { random?: () => number; longestWaitMs?: number } = {}) {
    this.#random = random
    this.#longestWaitMs = longestWaitMs
  }

  /** Set from the refusal that closed the gate until a probe is served. */
  get away(): Outage | undefined {
    return this.#state.kind === 'closed' || this.#state.kind === 'probing' ? this.#outage : undefined
  }

  /** The outage that is not wholly over: while the gate opens slowly, too. */
  get outage(): Outage | undefined {
    return this.#outage
  }

  /** When somebody may ask, as far as that is known. In the past: as soon as somebody has been answered. */
  nextTry(now: number): number {
    return this.#state.kind === 'closed' ? this.#state.until : now
  }

  /** @returns undefined when the caller has to wait */
  admit(now: number): Ticket | undefined {
    const state = this.#state
    switch (state.kind) {
      case 'open':
        return { epoch: this.#epoch, probe: false }
      case 'closed':
        if (now < state.until) return undefined
        this.#state = { kind: 'probing' }
        return { epoch: this.#epoch, probe: true }
      case 'probing':
        return undefined
      case 'opening':
        if (state.asking >= state.allowed) return undefined
        state.asking++
        return { epoch: this.#epoch, probe: false }
    }
  }

  /** The provider has answered. @returns true if that ends an outage */
  served(ticket: Ticket): boolean {
    const state = this.#state
    if (ticket.epoch !== this.#epoch) return false
    switch (state.kind) {
      case 'open':
        state.strikes = 0
        return false
      case 'probing':
        this.#state = { kind: 'opening', allowed: FIRST_FEW, asking: 0 }
        return true
      case 'opening':
        state.asking = Math.max(0, state.asking - 1)
        state.allowed *= 2
        if (state.allowed >= ALL) this.#open()
        return false
      case 'closed':
        return false
    }
  }

  /** The provider has refused, or not answered. @returns true if that begins an outage, or one that seemed to be over goes on */
  refused(ticket: Ticket, refusal: Refusal, now: number): boolean {
    const state = this.#state
    if (ticket.epoch !== this.#epoch) {
      this.#waitLonger(refusal, now)
      return false
    }
    if (state.kind === 'open') {
      state.since = state.strikes++ === 0 ? now : state.since
      if (!refusal.told && refusal.waitMs === undefined && state.strikes < STRIKES) return false
      this.#outage = { since: state.since, why: refusal.why, told: refusal.told }
      this.#close(refusal, now)
      return true
    }
    this.#close(refusal, now)
    return state.kind === 'opening'
  }

  /** The model was not asked, or nobody knows with what result. */
  left(ticket: Ticket, now: number): void {
    const state = this.#state
    if (ticket.epoch !== this.#epoch) return
    if (state.kind === 'opening') state.asking = Math.max(0, state.asking - 1)
    if (state.kind === 'probing' && ticket.probe) this.#state = { kind: 'closed', until: now }
  }

  #open(): void {
    this.#state = { kind: 'open', strikes: 0, since: 0 }
    this.#outage = undefined
    this.#waits = 0
  }

  #close(refusal: Refusal, now: number): void {
    this.#epoch++
    this.#waits++
    if (this.#outage) this.#outage = { ...this.#outage, why: refusal.why, told: refusal.told }
    this.#state = { kind: 'closed', until: now + this.#wait(refusal) }
  }

  /** A refusal of a request that began before the gate was closed. It adds a wait only if it names one. */
  #waitLonger({ waitMs }: Refusal, now: number): void {
    const state = this.#state
    if (state.kind !== 'closed' || waitMs === undefined || waitMs > this.#longestWaitMs) return
    state.until = Math.max(state.until, now + waitMs)
  }

  /** If the provider names a tiny wait again and again, the probes still come slowly. */
  #wait({ waitMs }: Refusal): number {
    const own = waitAfter(this.#waits, { random: this.#random })
    if (waitMs === undefined || waitMs > this.#longestWaitMs) return own
    return this.#waits > 1 && waitMs < FIRST_WAIT_MS ? own : waitMs
  }
}

/**
 * The wait after so many failures in a row, in milliseconds: from 1 s, doubling to 2 min, and a little more by chance.
 *
 * @param firstMs the wait after the first failure
 * @example waitAfter(3, { random: () => 0 }) // 4000
 */
export function waitAfter(
  failures: number,
  { random = Math.random, firstMs = FIRST_WAIT_MS }: { random?: () => number; firstMs?: number } = {},
): number {
  const longest = Math.max(firstMs, LONGEST_PROBE_WAIT_MS / (1 + JITTER))
  return Math.round(Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longest) * (1 + JITTER * random()))
}
