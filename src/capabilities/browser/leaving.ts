/**
 * Which pages wait for the document of the next one. Until it comes, Chromium lets nobody read the page or use it: a server that
 * never answers would hold each later call of the session. So a page that does not come in time is given up here, and the page
 * stays as it was.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Page, Request } from 'playwright-core'

interface Patience {
  /** How long a document may not come, milliseconds. */
  timeoutMs: number
  /** Called with the URL of each page that is given up. */
  gaveUp(url: string): void
}

interface Watched {
  timeoutMs: number
  /** The request for the document that is awaited. */
  awaited?: Request | undefined
  /** A page is just being given up. */
  givingUp: boolean
  /** How many documents were asked for so far. */
  departures: number
  /** A page that asks again and again gets no more time. */
  timer?: NodeJS.Timeout | undefined
}

/** The longest wait for a page that is there: until it is loaded, or until it reacts. Milliseconds. */
const LOAD_MS = 10_000
const LOOK_EVERY_MS = 20
/** Chromium obeys at once, also while a page keeps its process busy. */
const STOP_MS = 2000
const watched = new WeakMap<Page, Watched>()

/** Begins with the next page of the context. */
export function watchLeaving(context: BrowserContext, { timeoutMs, gaveUp }: Patience): void {
  context.on('page', (page) => {
    const now: Watched = { timeoutMs, givingUp: false, departures: 0 }
    watched.set(page, now)
    const stays = (): void => {
      now.awaited = undefined
      clearTimeout(now.timer)
      now.timer = undefined
    }
    const giveUp = async (): Promise<void> => {
      const request = now.awaited
      now.timer = undefined
      if (!request) return
      gaveUp(request.url())
      now.givingUp = true
      await stopLoading(page)
      now.givingUp = false
      if (now.awaited === request) stays()
    }
    page.on('request', (request) => {
      if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
      now.awaited = request
      now.departures += 1
      now.timer ??= setTimeout(() => void giveUp(), timeoutMs).unref()
    })
    page.on('framenavigated', (frame) => {
      // A step within the document, such as to an anchor, does not end the wait for another one.
      if (frame === page.mainFrame() && now.awaited?.existingResponse()) stays()
    })
    // A download and an empty answer lead to no other page.
    const ended = (request: Request): void => {
      if (now.awaited === request) stays()
    }
    page.on('requestfinished', ended)
    page.on('requestfailed', ended)
    page.on('close', stays)
  })
}

/** How long a call waits until a page is loaded, or reacts. Milliseconds. */
export function patienceWith(page: Page): number {
  return Math.min(LOAD_MS, watched.get(page)?.timeoutMs ?? LOAD_MS)
}

/** How many documents of next pages were asked for so far. */
export function departures(page: Page): number {
  return watched.get(page)?.departures ?? 0
}

/** Waits until no other page is awaited: it has come, or was given up. A page that asks without end is not waited for. */
export async function arrived(page: Page, signal: AbortSignal): Promise<void> {
  const now = watched.get(page)
  if (!now) return
  const until = performance.now() + now.timeoutMs + STOP_MS
  while ((now.awaited || now.givingUp) && performance.now() < until) await delay(LOOK_EVERY_MS, undefined, { signal })
}

/** Ends the wait for the next page. Never rejects, and never takes long. */
export async function stopLoading(page: Page): Promise<void> {
  const stop = async (): Promise<void> => {
    const session = await page.context().newCDPSession(page)
    await session.send('Page.stopLoading')
    // This waits for the process of the page, which may be busy for ever.
    session.detach().catch(() => undefined)
    // A window that was opened only for this would stay, and be empty.
    if (page.url() === 'about:blank' && (await page.opener())) await page.close()
  }
  await Promise.race([stop().catch(() => undefined), delay(STOP_MS, undefined, { ref: false })])
}
