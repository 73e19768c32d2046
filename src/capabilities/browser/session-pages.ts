/** One page for each session, in a browser context of its own: no cookie of one session reaches another. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { contextIdOf, holdNavigations } from './hold-navigations.ts'
import { Journey } from './journey.ts'
import { watchLeaving } from './leaving.ts'

export interface SessionPagesOptions {
  launch(): Promise<Browser>
  /** How long a page may be unused before it is closed, milliseconds. */
  idleMs: number
  /** How long a page may not come before it is given up, milliseconds. */
  pageTimeoutMs: number
}

interface Kept {
  context: BrowserContext
  contextId: string | undefined
  journey: Journey
  idle?: NodeJS.Timeout
}

const VIEWPORT = { width: 1280, height: 800 }
/** Time-out of each step, milliseconds. */
const TIMEOUT_MS = 30_000
/** A page that does not come is given up by `watchLeaving`, not by the step that asked for it. */
const LATER_MS = 5000

export class SessionPages {
  readonly #options: SessionPagesOptions
  readonly #kept = new Map<string, Kept>()
  #browser: Promise<Browser> | undefined

  constructor(options: SessionPagesOptions) {
    this.#options = options
  }

  /** Works with the page of a session; it is not idle meanwhile. Without a page, `work` gets `undefined`. */
  async use<Result>(sessionId: string, work: (page: Page | undefined) => Promise<Result>): Promise<Result> {
    clearTimeout(this.#kept.get(sessionId)?.idle)
    try {
      return await work(this.current(sessionId))
    } finally {
      const kept = this.#kept.get(sessionId)
      clearTimeout(kept?.idle)
      if (kept) kept.idle = setTimeout(() => void this.#forget(sessionId), this.#options.idleMs).unref()
    }
  }

  /** The page that was opened last: a link may open a page of its own. */
  current(sessionId: string): Page | undefined {
    return this.#kept.get(sessionId)?.context.pages().at(-1)
  }

  /** The session's page, a new one if it has none. */
  async open(sessionId: string): Promise<Page> {
    const known = this.current(sessionId)
    if (known) return known
    const context = await (await this.#launched()).newContext({ acceptDownloads: false, viewport: VIEWPORT })
    const { pageTimeoutMs } = this.#options
    const journey = new Journey()
    context.setDefaultTimeout(TIMEOUT_MS)
    context.setDefaultNavigationTimeout(pageTimeoutMs + LATER_MS)
    watchLeaving(context, { timeoutMs: pageTimeoutMs, gaveUp: (url) => journey.gaveUp(url) })
    const page = await context.newPage()
    const kept: Kept = { context, contextId: await contextIdOf(page), journey }
    this.#kept.set(sessionId, kept)
    context.once('close', () => {
      if (this.#kept.get(sessionId) === kept) this.#kept.delete(sessionId)
    })
    return page
  }

  /** The journey of a session's pages. Undefined: it has no page. */
  journeyOf(sessionId: string): Journey | undefined {
    return this.#kept.get(sessionId)?.journey
  }

  async close(): Promise<void> {
    for (const { idle } of this.#kept.values()) clearTimeout(idle)
    this.#kept.clear()
    const browser = this.#browser
    this.#browser = undefined
    await (await browser)?.close()
  }

  async #forget(sessionId: string): Promise<void> {
    const kept = this.#kept.get(sessionId)
    this.#kept.delete(sessionId)
    await kept?.context.close().catch(() => undefined)
  }

  async #launch(): Promise<Browser> {
    const browser = await this.#options.launch()
    await holdNavigations(browser, (id) => [...this.#kept.values()].find(({ contextId }) => contextId === id)?.journey)
    return browser
  }

  /** The browser, which is started again when it has died. */
  #launched(): Promise<Browser> {
    const launching = (this.#browser ??= this.#launch())
    const forget = (): void => {
      if (this.#browser === launching) this.#browser = undefined
    }
    launching.then((browser) => browser.once('disconnected', forget), forget)
    return launching
  }
}
