/** The place that the address names now. */
import { useSyncExternalStore } from 'react'
import { parseRoute, type Route } from './route.ts'

/** Follows the address. */
export function useRoute(): Route {
  return parseRoute(useSyncExternalStore(listen, () => location.hash))
}

function listen(changed: () => void): () => void {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}
