/**
 * Whether the server answers, and whether it reaches its store: one value for the whole page, which the badge shows. Requests
 * and event streams report here.
 */
import { useSyncExternalStore } from 'react'

/** `locked`: the server wants a token. `away`: it does not answer. `store-away`: it answers, but its database does not. */
export type Connection = 'here' | 'locked' | 'away' | 'store-away'

let now: Parts = { server: true, store: true, locked: false }
const listeners = new Set<() => void>()

/** @param answers whether the last request was answered */
export function reportServer(answers: boolean): void {
  change({ server: answers })
}

/** @param answers what a stream has told of the server's store */
export function reportStore(answers: boolean): void {
  change({ store: answers })
}

/** @param locked whether the last request was refused for want of a token */
export function reportLocked(locked: boolean): void {
  change({ locked })
}

/** What the badge shows. */
export function useConnection(): Connection {
  return useSyncExternalStore(listen, connection)
}

interface Parts {
  server: boolean
  store: boolean
  locked: boolean
}

function connection(): Connection {
  if (!now.server) return 'away'
  if (now.locked) return 'locked'
  return now.store ? 'here' : 'store-away'
}

function change(part: Partial<Parts>): void {
  const before = connection()
  now = { ...now, ...part }
  if (connection() !== before) for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
