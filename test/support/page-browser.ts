/** A real Chromium that opens the page and records every error of the page. */
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { demandChromium } from '../../src/capabilities/browser/chromium.ts'

/** A page, and the errors on its console. Refusals of the content policy are among them. */
export interface Opened {
  page: Page
  errors: string[]
}

/** One browser for the file. Every page is closed after its test. */
export function usePageBrowser(): { open(url: string, how?: BrowserContextOptions): Promise<Opened> } {
  let browser: Browser | undefined
  beforeAll(async () => {
    const { chromium, program } = await demandChromium()
    browser = await chromium.launch({ executablePath: program, chromiumSandbox: process.getuid?.() !== 0 })
  })
  afterEach(async () => {
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
  })
  afterAll(() => browser?.close())
  return {
    async open(url, how = {}) {
      const context = await browser!.newContext({ viewport: { width: 1200, height: 800 }, ...how })
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', (error) => errors.push(String(error)))
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
          errors.push(message.text())
      })
      await page.goto(url)
      return { page, errors }
    },
  }
}

/** The serious and critical faults that axe finds in the view. */
export async function faultsOf(page: Page): Promise<string[]> {
  // The script is injected through the debugger, so the content security policy of the page does not refuse it.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    )
}

/** Fails with the whole list of faults. */
export async function expectNoFaults(page: Page): Promise<void> {
  expect(await faultsOf(page)).toEqual([])
}
