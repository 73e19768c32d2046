/** What all calls of the browser have in common: the session's page, which is opened again if it is gone, and the results about it. */
import type { Page } from 'playwright-core'
import { messageOf } from '../../core/errors.ts'
import { orAborted } from '../../core/or-aborted.ts'
import type { ToolContext } from '../../tool/tool.ts'
import type { Touch } from '../../tool/touch.ts'
import { pagePart } from '../html/page-part.ts'
import { untrusted } from '../html/untrusted.ts'
import type { NetworkGuard } from '../network/network-guard.ts'
import { NetworkRefusal, reaching, type NotReached } from '../network/network-refusal.ts'
import { givenUpText, heldBackText, type Journey } from './journey.ts'
import { arrived, departures, patienceWith, stopLoading } from './leaving.ts'
import type { SessionPages } from './session-pages.ts'

/** Shared by the tools of one pack. */
export interface BrowserRoom {
  pages: SessionPages
  guard: NetworkGuard
  /** How long a page may not come before it is given up, milliseconds. */
  pageTimeoutMs: number
}

/** A call of one of these tools. */
export interface BrowserCall {
  room: BrowserRoom
  ctx: ToolContext
}

/** A result that the model reads. */
export type Told =
  | { success: false; error: { type: string; message: string } }
  | { content: unknown[]; isError?: boolean }

/** The value of the session that holds the URL of its page. */
const URL_VALUE = 'browser.url'
const LOST =
  'The page was closed meanwhile: the worker has changed or was restarted, or the page was not used for long. It was opened again at its last URL. What was typed and who was signed in is gone, and the refs are new.'
const MOVED =
  'Not done: the page has gone to another host meanwhile, where this call was not permitted. It is shown as it is now.'
const NONE = 'No page is open. Open one with BrowserOpen.'

/**
 * Works with the session's page.
 *
 * @param acts the work uses refs, so it is not done if the page had to be opened again
 */
export function withPage(
  call: BrowserCall,
  work: (page: Page) => Promise<unknown[]>,
  { acts }: { acts: boolean },
): Promise<unknown> {
  const { room, ctx } = call
  return answering(ctx, () =>
    room.pages.use(ctx.sessionId, async (open) => {
      const url = await lastUrl(ctx)
      if (open) await arrived(open, ctx.signal)
      // A window that was given up is closed.
      const known = room.pages.current(ctx.sessionId)
      if (known) {
        judge(call)
        const moved = acts && hostIn(known.url()) !== hostIn(url)
        const content = moved ? [textPart(MOVED), ...(await shown(known, ctx))] : await work(known)
        const heldBack = takeHeldBack(call)
        const failed = acts && (moved || heldBack.length > 0)
        return { ...done(call, [...heldBack, ...takeGivenUp(call), ...content]), ...(failed && { isError: true }) }
      }
      if (url === undefined) throw new NetworkRefusal('network_error', NONE)
      const page = await visit(call, url)
      const content = acts ? await shown(page, ctx) : await work(page)
      return { ...done(call, [textPart(LOST), ...content]), ...(acts && { isError: true }) }
    }),
  )
}

/** Opens a URL in the session's page. */
export function openPage(call: BrowserCall, url: string): Promise<unknown> {
  const { room, ctx } = call
  return answering(ctx, () =>
    room.pages.use(ctx.sessionId, async () => {
      const page = await visit(call, url, { permitted: true })
      const content = await shown(page, ctx)
      return done(call, [...takeHeldBack(call), ...takeGivenUp(call), ...content])
    }),
  )
}

/** The touch of a call that uses the session's page: the last known URL of the page. */
export async function touchedPage(ctx: ToolContext): Promise<Touch[]> {
  const url = await lastUrl(ctx)
  return url === undefined ? [] : [{ kind: 'url', url }]
}

/** The page as a tree of what can be read and used, each part with its ref. */
export async function shown(page: Page, { signal }: ToolContext, offset = 0): Promise<unknown[]> {
  const read = async () => ({
    before: departures(page),
    tree: await treeOf(page, signal),
    title: await reacting(page, () => page.title(), signal),
  })
  const first = await read()
  const left = departures(page) > first.before
  if (left) await settled(page, signal)
  const { before, tree, title } = left ? await read() : first
  const { part, which } = pagePart(tree, offset)
  // A page that is about to be left has no title: Playwright says where it leads to.
  const text = `${departures(page) > before ? '' : title}\n${part}`
  return [textPart(`${untrusted(page.url(), text)}\n[${page.url()}: ${which}]`)]
}

/** A page that is just being left has no tree; the next one has. */
async function treeOf(page: Page, signal: AbortSignal): Promise<string> {
  try {
    return await page.ariaSnapshot({ mode: 'ai', signal, timeout: patienceWith(page) })
  } catch {
    signal.throwIfAborted()
    await settled(page, signal)
    return page.ariaSnapshot({ mode: 'ai', signal, timeout: patienceWith(page) })
  }
}

/** Limits work to which Playwright gives no time-out. A page may keep its process busy for ever. */
export async function reacting<Result>(page: Page, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted()
  const late = AbortSignal.timeout(patienceWith(page))
  try {
    return await orAborted(work(), AbortSignal.any([signal, late]))
  } catch (error) {
    signal.throwIfAborted()
    throw late.aborted ? new NetworkRefusal('network_error', 'The page does not react.') : error
  }
}

export function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

/** @param permitted whether the call was permitted to open this URL; else rules are asked about it, as about a link */
async function visit(
  call: BrowserCall,
  url: string,
  { permitted = false }: { permitted?: boolean } = {},
): Promise<Page> {
  const { room, ctx } = call
  const { href } = room.guard.demand(url)
  const page = await room.pages.open(ctx.sessionId)
  const journey = judge(call)
  // The model need not know from what the previous page was kept.
  journey?.takeHeldBack()
  journey?.takeGivenUp()
  if (permitted) journey?.opens(href)
  try {
    await page.goto(href, { waitUntil: 'domcontentloaded', signal: ctx.signal })
  } catch (error) {
    if (ctx.signal.aborted) await stopLoading(page)
    const [heldBack] = journey?.takeHeldBack() ?? []
    if (heldBack) throw new NetworkRefusal('permission_denied', heldBackText(heldBack))
    const [givenUp] = journey?.takeGivenUp() ?? []
    throw givenUp === undefined ? error : new NetworkRefusal('network_error', givenUpText(givenUp))
  }
  await settled(page, ctx.signal)
  return page
}

/** An address that a page leads to is judged as if BrowserOpen were to open it. */
function judge({ room, ctx }: BrowserCall): Journey | undefined {
  const journey = room.pages.journeyOf(ctx.sessionId)
  journey?.judgedBy((url) => ctx.ruled?.('BrowserOpen', { kind: 'url', url }))
  return journey
}

function takeHeldBack({ room, ctx }: BrowserCall): unknown[] {
  const heldBack = room.pages.journeyOf(ctx.sessionId)?.takeHeldBack() ?? []
  return heldBack.map((each) => textPart(heldBackText(each)))
}

function takeGivenUp({ room, ctx }: BrowserCall): unknown[] {
  const givenUp = room.pages.journeyOf(ctx.sessionId)?.takeGivenUp() ?? []
  return givenUp.map((each) => textPart(givenUpText(each)))
}

function hostIn(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined
}

/** Waits until the page is loaded, and before for the page that it leads to. One that never is loaded can be read as it is. */
export async function settled(page: Page, signal: AbortSignal): Promise<void> {
  await arrived(page, signal)
  await page.waitForLoadState('load', { timeout: patienceWith(page) }).catch(() => undefined)
}

function done({ room, ctx }: BrowserCall, content: unknown[]): { content: unknown[] } {
  const url = room.pages.current(ctx.sessionId)?.url()
  if (url !== undefined && URL.canParse(url)) ctx.values.set(URL_VALUE, url)
  return { content }
}

async function lastUrl({ values }: ToolContext): Promise<string | undefined> {
  const url = await values.get(URL_VALUE)
  return typeof url === 'string' ? url : undefined
}

/** The model reads an error of the page as a result. Other errors, such as a missing browser, are thrown. */
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
