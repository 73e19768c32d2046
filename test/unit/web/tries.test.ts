/** What is tried again: how long it rests, and what ends a rest. */
import { expect, it } from 'vitest'
import { AWAY, ApiFailure } from '../../../src/web/server/api-failure.ts'
import { rest } from '../../../src/web/server/rest.ts'
import { createTries, restBefore, tryNow } from '../../../src/web/server/tries.ts'

const away = new ApiFailure(0, { code: AWAY, message: 'away' })

it('rests grow to fifteen seconds, and are not the same for everybody', () => {
  expect([0, 1, 2, 30].map((failures) => restBefore(failures, () => 1))).toEqual([250, 500, 1000, 15_000])
  expect([0, 1, 2, 30].map((failures) => restBefore(failures, () => 0))).toEqual([187.5, 375, 750, 11_250])
})

it('a person ends every rest by a try at once', async () => {
  const rests: (number | undefined)[] = []
  const wait: typeof rest = (ms, ...signals) => (rests.push(ms), rest(undefined, ...signals))
  const [one, other] = [
    createTries(new AbortController().signal, wait),
    createTries(new AbortController().signal, wait),
  ]
  const waiting = Promise.all([one.failed(away), other.failed(away)])
  expect(rests).toHaveLength(2)
  tryNow()
  await waiting
})

it('what works again after failures ends the rests of all others', async () => {
  const never: typeof rest = (_, ...signals) => rest(undefined, ...signals)
  const [one, other] = [
    createTries(new AbortController().signal, async () => undefined),
    createTries(new AbortController().signal, never),
  ]
  await one.failed(away)
  await one.failed(away)
  const waiting = other.failed(away)
  one.works()
  await waiting
})

it('a rest ends with its signal, and leaves no listener behind', async () => {
  const over = new AbortController()
  const waiting = rest(undefined, over.signal)
  over.abort()
  await waiting
  await rest(undefined, over.signal)
})
