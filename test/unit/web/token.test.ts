/** The token comes by the fragment, and leaves the address at once. */
import { expect, it } from 'vitest'
import { keepToken, takeToken, tokenHeaders } from '../../../src/web/server/token.ts'

function storage(): Storage {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  } as Storage
}

function opened(hash: string): { kept: Storage; address: string } {
  const kept = storage()
  let address = hash
  const past = { replaceState: (_: unknown, __: string, url: string) => (address = url) } as unknown as History
  takeToken({ hash, pathname: '/', search: '' } as Location, kept, past)
  return { kept, address }
}

it('is taken out of the address, and sent as a header from then on', () => {
  const { kept, address } = opened('#token=a%2Bb')
  expect(address).toBe('/#/')
  expect(tokenHeaders(kept)).toEqual({ authorization: 'Bearer a+b' })
})

it('is not looked for elsewhere, and no header is sent without one', () => {
  const { kept, address } = opened('#/search?q=token=x')
  expect(address).toBe('#/search?q=token=x')
  expect(tokenHeaders(kept)).toEqual({})
})

it('may be typed in', () => {
  const kept = storage()
  keepToken('typed', kept)
  expect(tokenHeaders(kept)).toEqual({ authorization: 'Bearer typed' })
})
