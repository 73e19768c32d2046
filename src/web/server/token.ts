/**
 * The token that the server asks for. It arrives in the fragment of the address, which no browser sends anywhere, and it
 * stays in this tab. It must never get into a link, a log or local storage.
 */
const KEPT = 'stello-token'

/** Takes the token out of `#token=…`, so that the address that people copy has none. */
export function takeToken(place: Location, kept: Storage, past: History): void {
  const token = /^#token=([^&]+)/.exec(place.hash)?.[1]
  if (token === undefined) return
  keepToken(decodeURIComponent(token), kept)
  past.replaceState(null, '', `${place.pathname}${place.search}#/`)
}

/** Keeps it for this tab. */
export function keepToken(token: string, kept: Storage = sessionStorage): void {
  kept.setItem(KEPT, token)
}

/** The headers that carry the token; none where there is none. */
export function tokenHeaders(kept: Storage = sessionStorage): Record<string, string> {
  const token = kept.getItem(KEPT)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}
