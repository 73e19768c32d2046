import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hearAhead, waitForNews, type WaitOptions } from '../../../src/client/wait-for-news.ts'
import type { Listener } from '../../../src/store/database/listener.ts'
import type { News } from '../../../src/store/database/notifier.ts'

let tell: (news: News, sessionId?: string) => void = () => undefined
let subscribed = false
let connected = true
const listener: Listener = {
  connected: () => connected,
  subscribe: (_concerns, heard) => {
    tell = heard
    subscribed = true
    return () => void (subscribed = false)
  },
  close: async () => undefined,
}

it('a wait that ends by its time leaves nothing behind on the signal that could have ended it', async () => {
  const { signal } = new AbortController()
  const news = waitForNews(listener, () => true, { pollMs: 1 })
  for (let n = 0; n < 20; n++) await news.next(signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

describe('a wait for any news', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('names the sessions with news, and says once in a while that the others are due, however much news there is', async () => {
    const news = waitForNews(listener, () => true, { pollMs: 1000 })
    for (const id of ['a', 'b', 'a']) tell('progress', id)
    expect(await news.next()).toEqual({ sessions: new Set(['a', 'b']), unheard: 'none' })
    const others: string[] = []
    for (let n = 0; n < 8; n++) {
      await vi.advanceTimersByTimeAsync(300)
      tell('progress', 'a')
      const { sessions, unheard } = await news.next()
      expect(sessions).toEqual(new Set(['a']))
      others.push(unheard)
    }
    expect(others).toEqual(['none', 'none', 'none', 'open', 'none', 'none', 'none', 'open'])
  })

  it('says once that nobody has listened for a while', async () => {
    const news = waitForNews(listener, () => true)
    tell('progress', 'a')
    tell('decision')
    expect(await news.next()).toEqual({ sessions: new Set(['a']), unheard: 'all' })
    tell('progress', 'a')
    expect(await news.next()).toEqual({ sessions: new Set(['a']), unheard: 'none' })
  })
})

describe('a wait for a decision', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const waiting = (options: WaitOptions = { pollMs: 1000 }): { ended: () => boolean } => {
    let ended = false
    void waitForNews(listener, () => true, { for: 'decision', ...options })
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

  it('that also looks for changes without a notice is not put off by progress', async () => {
    const { ended } = waiting({ lookMs: 1000 })
    await vi.advanceTimersByTimeAsync(900)
    tell('progress')
    expect(ended()).toBe(false)
    await vi.advanceTimersByTimeAsync(100)
    expect(ended()).toBe(true)
  })
})

describe('a wait that begins before anybody waits', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('has heard what came meanwhile, and goes on for whoever takes it, once', async () => {
    const ahead = hearAhead(listener, 'a')
    tell('decision', 'a')
    const news = ahead?.take()
    expect(await news?.next()).toEqual({ sessions: new Set(['a']), unheard: 'none' })
    expect(ahead?.take()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(5000)
    expect(subscribed).toBe(true)
    news?.stop()
    expect(subscribed).toBe(false)
  })

  it('is none without a connection: what is told meanwhile would be lost', () => {
    connected = false
    expect(hearAhead(listener, 'a')).toBeUndefined()
    connected = true
  })

  it('ends after a second, or when it is not needed', async () => {
    const [late, stopped] = [hearAhead(listener, 'a'), hearAhead(listener, 'a')]
    stopped?.stop()
    expect(stopped?.take()).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1000)
    expect([late?.take(), subscribed, vi.getTimerCount()]).toEqual([undefined, false, 0])
  })
})
