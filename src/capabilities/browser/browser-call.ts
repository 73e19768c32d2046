/** What all calls of the browser have in common: the session's page, opened again where it is gone, and what is told of it. */
import type { Page } from 'playwright-core'
import { messageOf } from '../../core/errors.ts'
import type { ToolContext } from '../../tool/tool.ts'
import type { Touch } from '../../tool/touch.ts'
import { pagePart } from '../html/page-part.ts'
import { untrusted } from '../html/untrusted.ts'
import type { NetworkGuard } from '../network/network-guard.ts'
import { NetworkRefusal, reaching, type NotReached } from '../network/network-refusal.ts'
import type { SessionPages } from './session-pages.ts'

/** What the tools of one pack share. */
export interface BrowserRoom {
  pages: SessionPages
  guard: NetworkGuard
}

/** A result that the model reads. */
export type Told =
  | { success: false; error: { type: string; message: string } }
  | { content: unknown[]; isError?: boolean }

/** The value of the session that holds the URL of its page. */
const URL_VALUE = 'browser.url'
const LOAD_MS = 10_000
const LOST =
  'The page was closed meanwhile: the worker has changed or was restarted, or the page was not used for long. It was opened again at its last URL. What was typed and who was signed in is gone, and the refs are new.'
const NONE = 'No page is open. Open one with BrowserOpen.'

/**
 * Works with the session's page.
 *
 * @param acts the work uses refs, so it is not done where the page had to be opened again
 */
export function withPage(
  room: BrowserRoom,
  ctx: ToolContext,
  work: (page: Page) => Promise<unknown[]>,
  { acts }: { acts: boolean },
): Promise<unknown> {
  return answering(ctx, () =>
    room.pages.use(ctx.sessionId, async (known) => {
      const url = await lastUrl(ctx)
      if (known) return done(room, ctx, await work(known))
      if (url === undefined) throw new NetworkRefusal('network_error', NONE)
      const page = await visit(room, ctx, url)
      const content = acts ? await shown(page, ctx) : await work(page)
      return { ...done(room, ctx, [textPart(LOST), ...content]), ...(acts && { isError: true }) }
    }),
  )
}

/** Opens a URL in the session's page. */
export function openPage(room: BrowserRoom, ctx: ToolContext, url: string): Promise<unknown> {
  return answering(ctx, () =>
    room.pages.use(ctx.sessionId, async () => done(room, ctx, await shown(await visit(room, ctx, url), ctx))),
  )
}

/** The URL of the session's page, as far as it is known. */
export async function touchedPage(ctx: ToolContext): Promise<Touch[]> {
  const url = await lastUrl(ctx)
  return url === undefined ? [] : [{ kind: 'url', url }]
}

/** The page as a tree of what can be read and used, each part with its ref. */
export async function shown(page: Page, { signal }: ToolContext, offset = 0): Promise<unknown[]> {
  const { part, which } = pagePart(await treeOf(page, signal), offset)
  const text = `${await page.title()}\n${part}`
  return [textPart(`${untrusted(page.url(), text)}\n[${page.url()}: ${which}]`)]
}

/** A page that is just being left has no tree; the next one has. */
async function treeOf(page: Page, signal: AbortSignal): Promise<string> {
  try {
    return await page.ariaSnapshot({ mode: 'ai', signal })
  } catch {
    signal.throwIfAborted()
    await settled(page)
    return page.ariaSnapshot({ mode: 'ai', signal })
  }
}

export function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

async function visit({ pages, guard }: BrowserRoom, ctx: ToolContext, url: string): Promise<Page> {
  const { href } = guard.demand(url)
  const page = await pages.open(ctx.sessionId)
  await page.goto(href, { waitUntil: 'domcontentloaded', signal: ctx.signal })
  await settled(page)
  return page
}

/** Waits until the page is loaded; one that never is can be read as it is. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('load', { timeout: LOAD_MS }).catch(() => undefined)
}

function done({ pages }: BrowserRoom, ctx: ToolContext, content: unknown[]): { content: unknown[] } {
  const url = pages.current(ctx.sessionId)?.url()
  if (url !== undefined && URL.canParse(url)) ctx.values.set(URL_VALUE, url)
  return { content }
}

async function lastUrl({ values }: ToolContext): Promise<string | undefined> {
  const url = await values.get(URL_VALUE)
  return typeof url === 'string' ? url : undefined
}

/** What a page does wrong is for the model to read. That there is no browser is not. */
async function answering<Result>(ctx: ToolContext, work: () => Promise<Result>): Promise<Result | NotReached> {
  return reaching(async () => {
    try {
      return await work()
    } catch (error) {
      ctx.signal.throwIfAborted()
      const [problem = ''] = messageOf(error).split('\n')
      if (!isOfPage(error)) throw error
      throw new NetworkRefusal('network_error', `The page cannot be used: ${problem}${hintFor(problem)}`)
    }
  })
}

/** Errors of Playwright begin with the name of what was called. */
function isOfPage(error: unknown): boolean {
  return /^(?:page|locator|frame|elementHandle)\.\w+: /i.test(messageOf(error))
}

function hintFor(problem: string): string {
  if (problem.includes('ERR_TUNNEL_CONNECTION_FAILED')) {
    return '. The host cannot be reached, or its address is not one of the public internet.'
  }
  return /aria-ref=/.test(problem) ? '. BrowserRead shows the refs as they are now.' : ''
}
