/**
 * The gates of one worker, one for each provider, and the sessions that wait before them. In fine weather a model call passes
 * without waiting. While a provider is away, its sessions stand in line, and they are let through fairly: one session of
 * each tree in turn.
 */
import type { Model } from '../../core/model.ts'
import { Gate, type Outage, type Refusal, type Ticket } from './gate.ts'

/** How long a model with a stand-in is not asked after a refusal for want of credit. Milliseconds. */
const NO_CREDIT_MS = 2 * 60_000

/** The models that may answer, the first one first. */
export interface Choice {
  models: readonly Model[]
  /** How long a model must be away before the next one is asked, milliseconds. */
  afterMs: number
}

/** The permission to ask one model once. Exactly one of its functions counts: the first that is called. */
export interface Pass {
  readonly model: Model
  /** The model has answered, or refused for a reason that has nothing to do with its provider. */
  served(): void
  /** The provider has refused or not answered. */
  refused(refusal: Refusal): void
  /** The account has no credit left. */
  spent(): void
  /** The model was not asked, or nobody knows with what result. */
  leave(): void
}

/** What a session waits for. */
export interface HeldUp {
  /** The provider. */
  provider: string
  why: string
  /** Milliseconds until somebody may ask it again. 0: somebody is just asking. */
  nextTryMs: number
}

export interface GatesOptions {
  /** Called when an outage begins, and when it ends. */
  told?: (provider: string, news: { away: Outage } | { backAfterMs: number }) => void
  /** See `Gate`. */
  longestWaitMs?: number
  random?: () => number
  now?: () => number
}

interface Waiter {
  root: string
  choice: Choice
  /** The lines in which it stands. */
  lines: Set<Line>
  timer?: NodeJS.Timeout
  go(pass: Pass | undefined): void
}

/** A provider: its gate, and the sessions that wait before it, by root session. The first root is the next one. */
interface Line {
  provider: string
  gate: Gate
  roots: Map<string, Waiter[]>
  timer?: NodeJS.Timeout | undefined
}

export class Gates {
  readonly #lines = new Map<string, Line>()
  /** When a model whose account has no credit may be asked again. */
  readonly #spent = new Map<Model, number>()
  readonly #options: GatesOptions
  readonly #now: () => number
  readonly #desk: Desk

  constructor(options: GatesOptions = {}) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#desk = { now: this.#now, told: options.told, spent: this.#spent, let: (line) => this.#let(line) }
  }

  /** Passes at once, or not at all: then `wait`. */
  enter(choice: Choice): Pass | undefined {
    for (const model of this.#within(choice)) {
      const line = this.#line(model)
      // A session must not overtake others that stand in line.
      const ticket = line.roots.size > 0 ? undefined : line.gate.admit(this.#now())
      if (ticket) return this.#pass(line, model, ticket)
    }
    return undefined
  }

  /**
   * Stands in line.
   *
   * @param root of the session, which waits its turn with the others of its tree
   * @returns undefined when the wait has lasted for `withinMs` or was stopped
   */
  wait(
    choice: Choice,
    root: string,
    { withinMs, stop }: { withinMs: number; stop: AbortSignal },
  ): Promise<Pass | undefined> {
    return new Promise((resolve) => {
      const over = setTimeout(() => waiter.go(undefined), withinMs)
      const stopped = (): void => waiter.go(undefined)
      const waiter: Waiter = {
        root,
        choice,
        lines: new Set(),
        go: (pass) => {
          clearTimeout(over)
          clearTimeout(waiter.timer)
          stop.removeEventListener('abort', stopped)
          for (const line of waiter.lines) leaveLine(line, waiter)
          waiter.go = (late) => late?.leave()
          resolve(pass)
        },
      }
      stop.addEventListener('abort', stopped, { once: true })
      if (stop.aborted) stopped()
      else this.#stand(waiter)
    })
  }

  /** The wait that a session is in. Undefined: the models can be asked now. */
  heldUp(choice: Choice): HeldUp | undefined {
    const now = this.#now()
    const models = this.#within(choice)
    const widerMs = this.#widerMs(choice, models) ?? Infinity
    let soonest: HeldUp | undefined
    for (const model of models) {
      const { provider, gate } = this.#line(model)
      const why = gate.outage?.why
      if (why === undefined) return undefined
      const held = { provider, why, nextTryMs: Math.max(0, Math.min(gate.nextTry(now) - now, widerMs)) }
      if (!soonest || held.nextTryMs < soonest.nextTryMs) soonest = held
    }
    return soonest
  }

  /** Whether nobody may ask the model now. */
  isAway(model: Model): boolean {
    return this.#line(model).gate.away !== undefined
  }

  /** Whether a model is left that has not been refused for want of credit. */
  hasCredit({ models }: Choice): boolean {
    return models.some((model) => (this.#spent.get(model) ?? 0) <= this.#now())
  }

  /** How many sessions wait before the gate of a provider. */
  waiting(provider: string): number {
    return [...(this.#lines.get(provider)?.roots.values() ?? [])].reduce((sum, { length }) => sum + length, 0)
  }

  /** The models that may be asked: each one whose forerunners are all away for long enough. */
  #within({ models, afterMs }: Choice): Model[] {
    if (models.length === 1) return models as Model[]
    const now = this.#now()
    const able = models.filter((model) => (this.#spent.get(model) ?? 0) <= now)
    const upTo = able.findIndex((model) => !isPassedOver(this.#line(model).gate, now, afterMs))
    return able.length === 0 ? [...models] : upTo < 0 ? able : able.slice(0, upTo + 1)
  }

  /** The time until one more model may be asked because the one before it has been away for long enough. */
  #widerMs({ models: all, afterMs }: Choice, models: readonly Model[]): number | undefined {
    const last = models.at(-1)
    const since = last && this.#line(last).gate.away?.since
    return since === undefined || last === all.at(-1) ? undefined : since + afterMs - this.#now()
  }

  #line(model: Model): Line {
    const provider = providerOf(model)
    let line = this.#lines.get(provider)
    if (!line) {
      const { random, longestWaitMs } = this.#options
      line = {
        provider,
        gate: new Gate({ ...(random && { random }), ...(longestWaitMs !== undefined && { longestWaitMs }) }),
        roots: new Map(),
      }
      this.#lines.set(provider, line)
    }
    return line
  }

  #stand(waiter: Waiter): void {
    const models = this.#within(waiter.choice)
    for (const line of new Set(models.map((model) => this.#line(model)))) {
      if (waiter.lines.has(line)) continue
      waiter.lines.add(line)
      const same = line.roots.get(waiter.root)
      if (same) same.push(waiter)
      else line.roots.set(waiter.root, [waiter])
    }
    const widerMs = this.#widerMs(waiter.choice, models)
    if (widerMs !== undefined) waiter.timer = setTimeout(() => this.#stand(waiter), Math.max(1, Math.ceil(widerMs)))
    for (const line of waiter.lines) this.#let(line)
  }

  /** Lets the sessions through that may go, and looks again when the wait of the gate is over. */
  #let(line: Line): void {
    clearTimeout(line.timer)
    line.timer = undefined
    while (line.roots.size > 0) {
      const now = this.#now()
      const ticket = line.gate.admit(now)
      if (!ticket) {
        const inMs = line.gate.nextTry(now) - now
        if (inMs > 0) line.timer = setTimeout(() => this.#let(line), Math.ceil(inMs)).unref()
        return
      }
      const waiter = nextOf(line)
      const model = waiter.choice.models.find((one) => providerOf(one) === line.provider) as Model
      waiter.go(this.#pass(line, model, ticket))
    }
  }

  #pass(line: Line, model: Model, ticket: Ticket): Pass {
    return new Passed(this.#desk, { line, model, ticket })
  }
}

/** The state that passes share. */
interface Desk {
  now(): number
  told: GatesOptions['told']
  spent: Map<Model, number>
  /** Lets the sessions through that may go now. */
  let(line: Line): void
}

class Passed implements Pass {
  readonly model: Model
  readonly #desk: Desk
  readonly #line: Line
  readonly #ticket: Ticket
  #used = false

  constructor(desk: Desk, { line, model, ticket }: { line: Line; model: Model; ticket: Ticket }) {
    this.#desk = desk
    this.#line = line
    this.model = model
    this.#ticket = ticket
  }

  served(): void {
    if (!this.#use()) return
    const { spent } = this.#desk
    if (spent.size > 0) spent.delete(this.model)
    this.#answered()
  }

  refused(refusal: Refusal): void {
    if (!this.#use()) return
    const { gate, provider } = this.#line
    const begins = gate.refused(this.#ticket, refusal, this.#desk.now())
    if (begins && gate.away) this.#desk.told?.(provider, { away: gate.away })
    this.#letOthers()
  }

  spent(): void {
    if (!this.#use()) return
    this.#desk.spent.set(this.model, this.#desk.now() + NO_CREDIT_MS)
    this.#answered()
  }

  leave(): void {
    if (!this.#use()) return
    this.#line.gate.left(this.#ticket, this.#desk.now())
    this.#letOthers()
  }

  #use(): boolean {
    if (this.#used) return false
    return (this.#used = true)
  }

  #answered(): void {
    const { gate, provider } = this.#line
    const since = gate.outage?.since
    const ends = gate.served(this.#ticket)
    if (ends && since !== undefined) this.#desk.told?.(provider, { backAfterMs: this.#desk.now() - since })
    this.#letOthers()
  }

  #letOthers(): void {
    if (this.#line.roots.size > 0) this.#desk.let(this.#line)
  }
}

/** The provider of a model. Models of one provider wait together. */
export function providerOf({ provider, name }: Model): string {
  return provider ?? name
}

/** Whether the next model may be asked instead. */
function isPassedOver({ outage }: Gate, now: number, afterMs: number): boolean {
  return outage !== undefined && (outage.told || now - outage.since >= afterMs)
}

/** Round robin over the roots. */
function nextOf(line: Line): Waiter {
  const [root, waiters] = line.roots.entries().next().value as [string, Waiter[]]
  const next = waiters[0] as Waiter
  // Its root goes to the end. A session that passes leaves the line by itself.
  line.roots.delete(root)
  line.roots.set(root, waiters)
  return next
}

function leaveLine(line: Line, waiter: Waiter): void {
  const waiters = line.roots.get(waiter.root)
  const at = waiters?.indexOf(waiter) ?? -1
  if (!waiters || at < 0) return
  waiters.splice(at, 1)
  if (waiters.length === 0) line.roots.delete(waiter.root)
}
