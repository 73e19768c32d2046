/** Places and addresses, there and back. */
import { describe, expect, it } from 'vitest'
import { hrefOf, parseRoute, type Route } from '../../../src/web/route.ts'

const PLACES: Exclude<Route, { at: 'nowhere' }>[] = [
  { at: 'roots' },
  { at: 'session', sessionId: 's-1' },
  { at: 'session', sessionId: 'a/b?c#d%' },
  { at: 'session', sessionId: 's-1', record: 7 },
  { at: 'inbox' },
  { at: 'search', q: 'tea & "coffee" = 100 %' },
  { at: 'permissions' },
  { at: 'new' },
]

describe('places of the page', () => {
  it.each(PLACES)('%o is found again by its address', (place) => {
    expect(parseRoute(hrefOf(place))).toEqual(place)
  })

  it('an empty address is the list of all sessions', () => {
    expect(parseRoute('')).toEqual({ at: 'roots' })
    expect(parseRoute('#')).toEqual({ at: 'roots' })
  })

  it.each(['0', '-1', 'x', '1.5'])('a session without a record is what ?record=%s means', (record) => {
    expect(parseRoute(`#/s/s-1?record=${record}`)).toEqual({ at: 'session', sessionId: 's-1' })
  })

  it.each(['#/nothing', '#/s/', '#/s'])('%s is nowhere', (hash) => {
    expect(parseRoute(hash)).toEqual({ at: 'nowhere' })
  })

  it('an address that cannot be decoded is taken as it is', () => {
    expect(parseRoute('#/s/%E0%A4')).toEqual({ at: 'session', sessionId: '%E0%A4' })
  })
})
