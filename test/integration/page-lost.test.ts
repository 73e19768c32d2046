/** The page while connections are few, lost, or refused: a real Chromium over a real server behind a proxy. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { connectStello, type SessionHandle } from '../../src/client/index.ts'
import { serveHttp, type HttpServer, type ServeHttpOptions } from '../../src/http/serve-http.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { builtPage } from '../support/built-page.ts'
import { expectNoFaults, usePageBrowser } from '../support/page-browser.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { streamingModel } from '../support/streaming-model.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

/** A page that has sent nothing for so long rests. */
const RESTS_MS = 500
const stello = useStello()
const browser = usePageBrowser()
let servers: HttpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function site(options: Partial<ServeHttpOptions> = {}): Promise<string> {
  const server = await serveHttp({ stello: stello.client, page: await builtPage(), ...options })
  servers = [...servers, server]
  return server.url
}

const place = (url: string, { id }: { id: string }): string => `${url.replace(/\/$/, '')}/#/s/${id}`
const said = async (page: Page): Promise<string> =>
  (await page.getByRole('log', { name: 'Transcript' }).innerText()).replaceAll(/\s+/g, ' ')
const times = (text: string, part: string): number => text.split(part).length - 1
const lost = (page: Page) => page.locator('.lost')

const greeter = (): Promise<SessionHandle> =>
  stello.session({ llm: scriptedModel(replyBy([[({ role }) => role === 'user', 'Hello to you.']])) })

/** Chromium without a window takes every tab for seen: the test says which one is in front, as a window would. */
const inFront = (page: Page, seen: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${seen ? 'visible' : 'hidden'}' })
    document.dispatchEvent(new Event('visibilitychange'))
  `)

describe('the page', () => {
  it('works in the eighth tab, and catches up in the first when it is seen again', async () => {
    const session = await greeter()
    const url = place(await site(), session)
    const { page: first } = await browser.open(url)
    const tabs = [first]
    for (let n = 2; n <= 8; n++) {
      await first.getByRole('heading', { name: 'main' }).waitFor()
      await inFront(tabs.at(-1) as Page, false)
      const tab = await first.context().newPage()
      await tab.goto(url)
      await tab.getByRole('heading', { name: 'main' }).waitFor()
      tabs.push(tab)
    }
    const eighth = tabs.at(-1) as Page
    await eighth.getByLabel('Message', { exact: true }).fill('one')
    await eighth.keyboard.press('Enter')
    await expect.poll(() => said(eighth)).toMatch(/one.*Hello to you\..*Turn 1/)
    await inFront(eighth, false)
    await ask(session, 'two')
    await inFront(first, true)
    await expect.poll(() => said(first)).toMatch(/one.*Turn 1.*two.*Turn 2/)
    const text = await said(first)
    expect(['#1 one', '#3 two', 'Turn 1', 'Turn 2', 'Hello to you.'].map((part) => times(text, part))).toEqual([
      1, 1, 1, 1, 2,
    ])
  })

  it('holds no connection while nobody sees it', async () => {
    const session = await greeter()
    const { proxy, url } = await startProxyBefore(await site())
    onTestFinished(() => proxy.close())
    const { page } = await browser.open(place(url, session))
    await page.getByRole('heading', { name: 'main' }).waitFor()
    const streams: string[] = []
    page.on('request', (request) => request.url().includes('/events') && streams.push('begun'))
    page.on('requestfailed', (request) => request.url().includes('/events') && streams.push('ended'))
    await inFront(page, false)
    await expect.poll(() => streams).toEqual(['ended'])
    await inFront(page, true)
    await expect.poll(() => streams).toEqual(['ended', 'begun'])
    await expect.poll(() => page.locator('.link-state').textContent()).toBe('connected')
  })

  it('says that the connection is lost and when it tries again, and tries at once when it is told to', async () => {
    const session = await greeter()
    const { proxy, url } = await startProxyBefore(await site())
    onTestFinished(() => proxy.close())
    const { page } = await browser.open('about:blank')
    await page.clock.install()
    await page.goto(place(url, session))
    await page.getByRole('heading', { name: 'main' }).waitFor()
    proxy.refuse(true)
    proxy.cut()
    await expect.poll(() => lost(page).textContent()).toMatch(/^Connection losttrying again in \d+ s/)
    await expectNoFaults(page)
    // The time of the page stands still: when the tries that were due by then are over, it tries nothing by itself.
    await page.clock.pauseAt(Date.now() + 10_000)
    await until('the page rests', async () => {
      const tried = proxy.refusals()
      await delay(RESTS_MS)
      return proxy.refusals() === tried
    })
    proxy.refuse(false)
    await lost(page).getByRole('button', { name: 'Try now' }).click()
    await lost(page).waitFor({ state: 'detached' })
    await page.clock.resume()
    await ask(session, 'one')
    await expect.poll(() => said(page)).toContain('Turn 1')
  })

  it('reads records again that it could not read', async () => {
    const session = await greeter()
    await ask(session, 'one')
    const fork = await session.fork({ label: 'below', context: 'inherit' })
    await until('the fork has what it inherits', async () => (await fork.records()).total === 2)
    const { page } = await browser.open('about:blank')
    let refused = 0
    const error = { code: 'STORE_UNAVAILABLE', message: 'the store is away' }
    await page.route('**/records?*', (route) =>
      ++refused <= 3 ? route.fulfill({ status: 503, json: { error } }) : route.continue(),
    )
    await page.goto(place(await site(), fork))
    await expect.poll(() => said(page)).toContain('2 records from main')
    expect(refused).toBe(4)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('shows what a fork inherits as soon as a worker has opened it', async () => {
    const agent = { name: 'late', llm: scriptedModel(replyBy([[({ role }) => role === 'user', 'Hello to you.']])) }
    const first = await stello.work(agent)
    const session = await stello.client.createSession({ agent: agent.name, label: 'main' })
    await ask(session, 'one')
    await first.stop()
    const fork = await session.fork({ label: 'below', context: 'inherit' })
    const { page } = await browser.open('about:blank')
    let reads = 0
    await page.route('**/records?*', (route) => {
      reads++
      return route.continue()
    })
    await page.goto(place(await site(), fork))
    await expect.poll(() => reads).toBeGreaterThan(1)
    await stello.work(agent)
    await expect.poll(() => said(page)).toContain('2 records from main')
  })

  it('shows the whole of what streams to whoever comes in the middle, and when the store is back', async () => {
    const { proxy, url } = await startProxyBefore(stello.servers.databaseUrl)
    onTestFinished(() => proxy.close())
    const client = await connectStello({ ...stello.servers, databaseUrl: url })
    onTestFinished(() => client.close())
    const pieces = ['Alpha ', 'beta ', 'gamma ', 'delta.']
    const llm = streamingModel(pieces.map((text) => ({ type: 'text', text })))
    const session = await stello.session({ llm })
    await session.send('go')
    await llm.gates[0]?.reached()
    llm.gates[0]?.open()
    await llm.gates[1]?.reached()
    const { page } = await browser.open(place(await site({ stello: client }), session))
    await expect.poll(() => said(page)).toContain('Alpha beta')
    proxy.refuse(true)
    proxy.cut()
    await expect.poll(() => page.locator('.link-state').textContent()).toBe('database away')
    llm.gates[1]?.open()
    await llm.gates[2]?.reached()
    proxy.refuse(false)
    await expect.poll(() => said(page)).toContain('gamma')
    expect(await said(page)).toContain('Alpha beta gamma')
    llm.open()
    await expect.poll(() => said(page)).toContain('Turn 1')
    expect(times(await said(page), 'Alpha beta gamma delta.')).toBe(1)
  })
})
