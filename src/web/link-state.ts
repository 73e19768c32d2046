/**
 * Whether the server answers, and whether it reaches its store: one value for the whole page, which the badge shows. Requests
 * and event streams report here.
 */
import { useSyncExternalStore } from 'react'

/** `away`: the server does not answer. `store-away`: it does, and its database does not. */
export type Connection = 'here' | 'away' | 'store-away'

let server = true
let store = true
const listeners = new Set<() => void>()

/** @param answers whether the last request was answered */
export function reportServer(answers: boolean): void {
  change(answers, store)
}

/** @param answers what a stream has told of the server's store */
export function reportStore(answers: boolean): void {
  change(server, answers)
}

/** What the badge shows. */
export function useConnection(): Connection {
  return useSyncExternalStore(listen, connection)
}

function connection(): Connection {
  if (!server) return 'away'
  return store ? 'here' : 'store-away'
}

function change(nextServer: boolean, nextStore: boolean): void {
  if (nextServer === server && nextStore === store) return
  server = nextServer
  store = nextStore
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
