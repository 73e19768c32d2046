/**
 * Chromium holds each document that a page asks for until the rules of its session were asked, also for redirects and new
 * windows. If a document is held back, the page stays as if the link had not been followed.
 */
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { Journey } from './journey.ts'

/** @param journeyOf the journey of a browser context, by Chromium's id of it */
export async function holdNavigations(
  browser: Browser,
  journeyOf: (contextId: string) => Journey | undefined,
): Promise<void> {
  const chromium = await browser.newBrowserCDPSession()
  chromium.on('Fetch.requestPaused', ({ requestId, frameId, request }) => {
    const passing = async (): Promise<void> => {
      const page = await pageOf(chromium, frameId)
      const passes = !page || journeyOf(page.browserContextId ?? '')?.leadsTo(request.url)
      if (passes) return void (await chromium.send('Fetch.continueRequest', { requestId }))
      await chromium.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
      // A window that was opened only for this would stay, and be empty.
      if (page.openerId !== undefined && ['', 'about:blank'].includes(page.url))
        await chromium.send('Target.closeTarget', { targetId: page.targetId })
    }
    // The page may be gone by now. A request that nobody has let pass stays held.
    passing().catch(() => undefined)
  })
  await chromium.send('Fetch.enable', { patterns: [{ resourceType: 'Document' }] })
}

/** Chromium's id of the browser context that a page belongs to. */
export async function contextIdOf(page: Page): Promise<string | undefined> {
  const chromium = await page.context().newCDPSession(page)
  const { targetInfo } = await chromium.send('Target.getTargetInfo')
  await chromium.detach()
  return targetInfo.browserContextId
}

/** @returns undefined for a frame inside of a page */
async function pageOf(chromium: CDPSession, frameId: string) {
  try {
    // A page is the target that has the id of its main frame.
    const { targetInfo } = await chromium.send('Target.getTargetInfo', { targetId: frameId })
    return targetInfo.type === 'page' ? targetInfo : undefined
  } catch {
    return undefined
  }
}
