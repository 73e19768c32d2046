/**
 * Everything that is tried again and again, and the rests between the tries. Code that tries states it here. So the page can
 * say that something is lost and when it is tried next, and a person can ask for a try at once.
 */
import { useSyncExternalStore } from 'react'
import { toFailure, type ApiFailure } from './api-failure.ts'
import { createMoment } from './moment.ts'
import { rest } from './rest.ts'

const LONGEST_REST_MS = 15_000
/** Something that has worked for this long counts its failures anew. */
const LASTED_MS = 10_000

/** Milliseconds before a try, a little different for everybody. @param failures in a row @example restBefore(1, () => 1) // 500 */
export function restBefore(failures: number, random: () => number = Math.random): number {
  return Math.min(LONGEST_REST_MS, 250 * 2 ** failures) * (0.75 + random() / 4)
}

/** Another try would not change it. Too many requests and trouble of the server pass. */
export function isFinal({ status }: ApiFailure): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

/** Something that does not work now. */
export interface Trouble {
  failure: ApiFailure
  /** When it is tried next, milliseconds since 1970. Unset: now. */
  nextTry?: number
}

/** The tries of one thing. */
export interface Tries {
  /** It works. @param proven what it was for has come: the next failure is the first */
  works(proven?: boolean): void
  /** It has failed. Resolves when it shall be tried again, or at the end of it all. */
  failed(thrown: unknown): Promise<void>
}

const troubles = new Map<Tries, Trouble>()
let worst: Trouble | undefined
const hurry = createMoment()
const listeners = new Set<() => void>()

/** @param over nobody needs it any more @param wait waits; for tests */
export function createTries(over: AbortSignal, wait: typeof rest = rest): Tries {
  let failures = 0
  let workedSince: number | undefined
  const tries: Tries = {
    works(proven = false) {
      workedSince ??= Date.now()
      if (proven) failures = 0
      if (troubles.delete(tries)) {
        changed()
        tryNow()
      }
    },
    async failed(thrown) {
      if (workedSince !== undefined && Date.now() - workedSince > LASTED_MS) failures = 0
      workedSince = undefined
      if (over.aborted) return
      const failure = toFailure(thrown)
      const ms = restBefore(failures++)
      // One failure alone is over before anybody has read of it.
      if (failures > 1) troubles.set(tries, { failure, nextTry: Date.now() + ms })
      changed()
      await wait(ms, over, hurry.next())
      if (troubles.has(tries)) troubles.set(tries, { failure })
      changed()
    },
  }
  over.addEventListener('abort', () => troubles.delete(tries) && changed(), { once: true })
  return tries
}

/** Ends every rest: one thing works again, the browser is online again, or a person asks for it. */
export function tryNow(): void {
  hurry.comes()
}
if (typeof window !== 'undefined') addEventListener('online', tryNow)

/** The trouble that is tried next, among those that may pass. */
export function useTrouble(): Trouble | undefined {
  return useSyncExternalStore(listen, () => worst)
}

function changed(): void {
  const passing = [...troubles.values()].filter(({ failure }) => !isFinal(failure))
  worst = passing.toSorted((one, other) => (one.nextTry ?? Infinity) - (other.nextTry ?? Infinity))[0]
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
