import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { bounded, type Bounds } from '../../../src/activities/step/bounded.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const bounds = (): Bounds => ({
  timeoutMs: 1000,
  idle: { timeoutMs: 100, timedOut: () => new Error('silent') },
  stop: new AbortController().signal,
  timedOut: () => new Error('too long'),
  stopped: () => new Error('stopped'),
})

/** Work that never ends and calls `alive` at these times. @returns when it was given up, and why */
async function endless(...signs: number[]): Promise<{ why: string; at: number }> {
  const begun = Date.now()
  const work = bounded(bounds(), (_signal, alive) => {
    for (const ms of signs) setTimeout(alive, ms)
    return new Promise(() => undefined)
  }).catch((error: unknown) => ({ why: (error as Error).message, at: Date.now() - begun }))
  await vi.advanceTimersByTimeAsync(2000)
  return work as Promise<{ why: string; at: number }>
}

it('Work that gives no sign of life has its whole time', async () => {
  expect(await endless()).toEqual({ why: 'too long', at: 1000 })
})

it('Work that has given one must give the next in time', async () => {
  expect(await endless(250)).toEqual({ why: 'silent', at: 350 })
  expect(await endless(0, 90, 180)).toEqual({ why: 'silent', at: 280 })
})

it('Signs of life never make the whole time longer', async () => {
  expect(await endless(...Array.from({ length: 30 }, (_, i) => i * 50))).toEqual({ why: 'too long', at: 1000 })
})

it('A sign of life after the end starts no timer', async () => {
  let alive = (): void => undefined
  await bounded(bounds(), (_signal, still) => void (alive = still))
  alive()
  expect(vi.getTimerCount()).toBe(0)
})
