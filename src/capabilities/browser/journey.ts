/**
 * Decides which addresses the pages of one session may be led to. Rules are asked about each document before it is requested: a link, a form, a
 * script and a redirect may lead to a domain that no call has named.
 */
import type { Ruled } from '../../tool/touch.ts'

/** The rule about an address. */
export type Judge = (url: string) => Ruled | undefined

/** An address that a page was kept from, and the rule that has kept it. */
export interface HeldBack extends Ruled {
  url: string
}

/** A script may try for ever; only its first tries are told. */
const TOLD = 5
/** Longest URL that is told, in UTF-16 units: as long as BrowserOpen takes. */
const URL_LIMIT = 8000

export class Journey {
  #judge: Judge = () => undefined
  /** Hosts that calls have opened: they were permitted there. */
  readonly #opened = new Set<string>()
  #heldBack: HeldBack[] = []
  #givenUp: string[] = []

  /** The rules of the call that uses the page now count until the next call. */
  judgedBy(judge: Judge): void {
    this.#judge = judge
  }

  /** A call that was permitted opens this URL. Its host is not asked about again as long as the page lives. */
  opens(url: string): void {
    this.#opened.add(new URL(url).hostname)
  }

  /** Whether a page may be led to an address. */
  leadsTo(url: string): boolean {
    const ruled = this.#judge(url)
    if (!ruled || (ruled.decision === 'ask' && this.#opened.has(new URL(url).hostname))) return true
    if (this.#heldBack.length < TOLD) this.#heldBack.push({ ...ruled, url: url.slice(0, URL_LIMIT) })
    return false
  }

  /** A page that it was led to has not come. */
  gaveUp(url: string): void {
    if (this.#givenUp.length < TOLD) this.#givenUp.push(new URL(url).origin)
  }

  /** The origins of pages that were given up since the last call of this function. */
  takeGivenUp(): string[] {
    const taken = this.#givenUp
    this.#givenUp = []
    return taken
  }

  /** The addresses that were held back since the last call of this function. */
  takeHeldBack(): HeldBack[] {
    const taken = this.#heldBack
    this.#heldBack = []
    return taken
  }
}

/** The text for the model. */
export function heldBackText({ url, decision, rule }: HeldBack): string {
  return decision === 'deny'
    ? `The page was not led to ${url}: the rule ${rule} denies it.`
    : `The page was not led to ${url}: the rule ${rule} asks a person first. To go there, call BrowserOpen with this URL.`
}

/** The text for the model. It names no path: a page chooses its paths, and could write to the model there. */
export function givenUpText(origin: string): string {
  return `A page of ${origin} did not come in time, and was given up.`
}
