/** The places of the page, as the fragment of its address names them. Pure. */

/** A place. */
export type Route =
  | { at: 'roots' }
  /** `record`: the one that is looked for in it. */
  | { at: 'session'; sessionId: string; record?: number }
  | { at: 'inbox' }
  | { at: 'search'; q: string }
  | { at: 'permissions' }
  | { at: 'new' }
  | { at: 'nowhere' }

/** @example parseRoute('#/s/tea-7k2f') // { at: 'session', sessionId: 'tea-7k2f' } */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2)
  const [, first = '', second = ''] = path.split('/')
  switch (first) {
    case '':
      return { at: 'roots' }
    case 's':
      return second === '' ? { at: 'nowhere' } : { at: 'session', sessionId: decoded(second), ...recordIn(query) }
    case 'inbox':
    case 'permissions':
    case 'new':
      return { at: first }
    case 'search':
      return { at: 'search', q: new URLSearchParams(query).get('q') ?? '' }
    default:
      return { at: 'nowhere' }
  }
}

/** The address of a place: always a fragment of this page, whatever an id holds. */
export function hrefOf(route: Exclude<Route, { at: 'nowhere' }>): string {
  switch (route.at) {
    case 'roots':
      return '#/'
    case 'session':
      return `#/s/${encodeURIComponent(route.sessionId)}${route.record === undefined ? '' : `?record=${route.record}`}`
    case 'search':
      return `#/search?${new URLSearchParams({ q: route.q }).toString()}`
    case 'inbox':
    case 'permissions':
    case 'new':
      return `#/${route.at}`
  }
}

/** Goes there. */
export function go(route: Exclude<Route, { at: 'nowhere' }>): void {
  location.hash = hrefOf(route)
}

function recordIn(query: string): { record?: number } {
  const record = Number(new URLSearchParams(query).get('record'))
  return Number.isInteger(record) && record > 0 ? { record } : {}
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
