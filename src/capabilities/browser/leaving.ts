/**
 * Which pages wait for the document of the next one. Until it comes, Chromium lets nobody read the page: a server that never
 * answers would hold each later call of the session.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Page, Request } from 'playwright-core'

const LOOK_EVERY_MS = 20
const awaited = new WeakMap<Page, Request>()
const asked = new WeakMap<Page, number>()

/** Begins with the next page of the context. */
export function watchLeaving(context: BrowserContext): void {
  context.on('page', (page) => {
    page.on('request', (request) => {
      if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
      awaited.set(page, request)
      asked.set(page, departures(page) + 1)
    })
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) awaited.delete(page)
    })
    // A download and an empty answer lead to no other page.
    const ended = (request: Request): void => {
      if (awaited.get(page) === request) awaited.delete(page)
    }
    page.on('requestfinished', ended)
    page.on('requestfailed', ended)
  })
}

/** How many documents of next pages were asked for so far. */
export function departures(page: Page): number {
  return asked.get(page) ?? 0
}

/** Whether the document of another page was asked for, and has not come. */
export function isLeaving(page: Page): boolean {
  return awaited.has(page)
}

/**
 * Waits for the next page, if there is to be one. If it does not come in time, it is given up, and the page stays as it was.
 *
 * @returns the URL that was given up
 */
export async function arrived(page: Page, withinMs: number): Promise<string | undefined> {
  const until = performance.now() + withinMs
  while (isLeaving(page) && performance.now() < until) await delay(LOOK_EVERY_MS)
  const request = awaited.get(page)
  if (!request) return undefined
  const session = await page.context().newCDPSession(page)
  await session.send('Page.stopLoading')
  await session.detach()
  awaited.delete(page)
  return request.url()
}
