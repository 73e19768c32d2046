import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { waitForNews } from '../../../src/client/wait-for-news.ts'
import type { Listener } from '../../../src/store/listener.ts'
import type { News } from '../../../src/store/notifier.ts'

let tell: (news: News) => void = () => undefined
const listener: Listener = {
  subscribe: (_concerns, heard) => {
    tell = heard
    return () => undefined
  },
  close: async () => undefined,
}

it('a wait that ends by its time leaves nothing behind on the signal that could have ended it', async () => {
  const { signal } = new AbortController()
  const news = waitForNews(listener, () => true, { pollMs: 1 })
  for (let n = 0; n < 20; n++) await news.next(signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

describe('a wait for a decision', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const waiting = (): { ended: () => boolean } => {
    let ended = false
    void waitForNews(listener, () => true, { for: 'decision', pollMs: 1000 })
      .next()
      .then(() => (ended = true))
    return { ended: () => ended }
  }

  it('is not ended by progress, which shows for a while that nothing was lost', async () => {
    const { ended } = waiting()
    for (let ms = 0; ms < 9900; ms += 900) {
      await vi.advanceTimersByTimeAsync(900)
      tell('progress')
      expect(ended()).toBe(false)
    }
    tell('progress')
    await vi.advanceTimersByTimeAsync(999)
    tell('progress')
    expect(ended()).toBe(false)
    await vi.advanceTimersByTimeAsync(1000)
    expect(ended()).toBe(true)
  })

  it('is ended by a decision at once, also by one that came before', async () => {
    const { ended } = waiting()
    tell('decision')
    await vi.advanceTimersByTimeAsync(0)
    expect(ended()).toBe(true)
    const news = waitForNews(listener, () => true, { for: 'decision' })
    tell('decision')
    await news.next()
  })

  it('is ended by its time when nobody says anything', async () => {
    const { ended } = waiting()
    await vi.advanceTimersByTimeAsync(999)
    expect(ended()).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(ended()).toBe(true)
  })
})
