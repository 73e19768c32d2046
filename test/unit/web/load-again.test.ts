/** Parts of the page that are loaded when they are needed. */
import { expect, it } from 'vitest'
import { loadAgain } from '../../../src/web/server/load-again.ts'

it('a part of the page is asked for until it is there, less and less often', async () => {
  const rests: number[] = []
  let tries = 0
  const load = (): Promise<string> =>
    ++tries < 4 ? Promise.reject(new TypeError('Failed to fetch')) : Promise.resolve('part')
  const rest = (ms: number): Promise<void> => Promise.resolve(void rests.push(ms))
  expect(await loadAgain(load, rest)).toBe('part')
  expect(rests.map((ms, failures) => ms <= 250 * 2 ** failures && ms > 180 * 2 ** failures)).toEqual([true, true, true])
})
