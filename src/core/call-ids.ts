/**
 * Names and ids of calls that every provider takes. A model may invent anything, and a provider refuses the whole
 * conversation for one name or id that is not legal, in every later request too. Import-free: pure text.
 */

/** The longest id of a call that all providers take. */
export const CALL_ID_LIMIT = 40
const NAME_LIMIT = 64
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const ILLEGAL = /[^a-zA-Z0-9_-]+/g

/** Whether every provider takes it as the name of a tool. */
export function isLegalName(name: string): boolean {
  return LEGAL_NAME.test(name)
}

/** A legal name that is like the given one. */
export function toLegalName(name: string): string {
  return isLegalName(name) ? name : name.replace(ILLEGAL, '_').slice(0, NAME_LIMIT) || 'unnamed'
}

/** Gives ids that are legal and that no call before has. An id that is both already stays as it is. */
export class CallIds {
  readonly #taken = new Set<string>()
  /** The next number to append to an id, because some models number the calls of every answer from zero. */
  readonly #next = new Map<string, number>()

  take(given: string): string {
    const wanted = given.replace(ILLEGAL, '_').slice(0, CALL_ID_LIMIT) || 'call'
    let id = wanted
    for (let n = this.#next.get(wanted) ?? 1; this.#taken.has(id); n++) {
      id = `${wanted.slice(0, CALL_ID_LIMIT - 1 - String(n).length)}_${n}`
      this.#next.set(wanted, n + 1)
    }
    this.#taken.add(id)
    return id
  }
}
