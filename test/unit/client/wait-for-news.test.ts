import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { waitForNews } from '../../../src/client/wait-for-news.ts'
import type { Listener } from '../../../src/store/listener.ts'

/** Nobody has anything to tell. */
const silence: Listener = { subscribe: () => () => undefined, close: async () => undefined }

it('a wait that ends by its time leaves nothing behind on the signal that could have ended it', async () => {
  const { signal } = new AbortController()
  const news = waitForNews(silence, () => true, 1)
  for (let n = 0; n < 20; n++) await news.next(signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
