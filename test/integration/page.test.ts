/** The page, in a real Chromium, over the real server, a worker and a scripted provider: the list, the inbox, the frame. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveHttp, type HttpServer, type ServeHttpOptions } from '../../src/http/serve-http.ts'
import { createSession } from '../../src/store/sessions/sessions.ts'
import { replyBy, scriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { builtPage } from '../support/built-page.ts'
import { profiles } from '../support/forks.ts'
import { expectNoFaults, usePageBrowser } from '../support/page-browser.ts'
import { eventOf, useStello } from '../support/session-fixture.ts'
import { newSessionRow } from '../store/fixtures.ts'

const stello = useStello()
const browser = usePageBrowser()
let servers: HttpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function site(options: Partial<ServeHttpOptions> = {}): Promise<HttpServer> {
  const server = await serveHttp({ stello: stello.client, page: await builtPage(), ...options })
  servers = [...servers, server]
  return server
}

const HOSTILE = `<script>window.hurt = 1</script><img src=x onerror="window.hurt = 2">`
const EVIL_LINK = 'javascript:window.hurt=3'

/** An agent that removes files, asks for a region, and says hello; what it has removed. */
async function agent(name?: string): Promise<{ name: string; removed: string[]; regions: string[] }> {
  const removed: string[] = []
  const regions: string[] = []
  const remove = tool('remove', 'Removes', z.object({ path: z.string() }), ({ path }) => {
    removed.push(path)
    return `removed ${path}`
  })
  const book = tool('book', 'Books', z.object({}), async (_, ctx) => {
    const message = `Which region? ${HOSTILE} [here](${EVIL_LINK}) ${EVIL_LINK} https://example.com/regions`
    const { text } = await ctx.ask({ message, options: [{ label: 'EU' }, { label: 'US' }] })
    regions.push(text)
    return text
  })
  const worker = await stello.work({
    ...(name !== undefined && { name }),
    llm: scriptedModel(
      replyBy([
        ['remove', { toolCalls: [{ name: 'remove', arguments: { path: 'a.txt' } }] }],
        ['book', { toolCalls: [{ name: 'book' }] }],
        [({ role }) => role === 'tool', 'Done.'],
        [({ role }) => role === 'user', 'Hello.'],
      ]),
    ),
    permissions: { allow: ['book'] },
    capabilities: { tools: [remove, book] },
  })
  return { name: worker.taskQueue, removed, regions }
}

async function asking(what: 'remove' | 'book', label: string, of: string): Promise<string> {
  const session = await stello.client.createSession({ agent: of, label })
  await session.send(what)
  await eventOf(session, 'pending.opened')
  return session.id
}

const row = (page: Page, label: string) => page.locator('.roots li', { hasText: label })
const card = (page: Page, label: string) => page.locator('.waiting-card', { hasText: label })
const hurt = (page: Page): Promise<unknown> => page.evaluate(() => (globalThis as { hurt?: unknown }).hurt)

describe('the page', () => {
  it('starts a session, and lists it with what it has done', async () => {
    const { name } = await agent()
    const { url } = await site()
    const { page, errors } = await browser.open(url)
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('radio', { name }).check()
    await page.getByLabel('Label').fill('First of all')
    await page.getByLabel('First message').fill('hello')
    await page.keyboard.press('Control+Enter')
    await page.waitForURL(/#\/s\//)
    const [created] = await stello.client.roots({ agent: name })
    expect(new URL(page.url()).hash).toBe(`#/s/${created?.id}`)
    await page.goto(`${url}/#/`)
    await expect.poll(() => row(page, 'First of all').textContent()).toMatch(/idle.*First of all/)
    // On a busy machine the next frame may come behind the next key.
    await page.evaluate(() => {
      Object.assign(globalThis, { requestAnimationFrame: (draw: () => void) => setTimeout(draw, 1000) })
    })
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/s\//)
    expect(errors).toEqual([])
  })

  it('offers the profiles that the agent has, and takes a name that is typed', async () => {
    const llm = scriptedModel(({ messages }) => messages.find(({ role }) => role === 'system')?.content ?? '(none)')
    const forks = profiles({ reader: { systemPrompt: 'Read.' }, writer: {} })
    const { taskQueue: name } = await stello.work({ llm, capabilities: { profiles: forks } })
    const { url } = await site()
    const { page } = await browser.open(`${url}/#/new`)
    await page.getByRole('radio', { name }).check()
    const offered = page.getByRole('group', { name: 'Profiles of the agent' }).getByRole('button')
    await expect.poll(() => offered.allTextContents()).toEqual(['reader', 'writer'])
    await page.getByLabel('Profile', { exact: true }).fill('writer')
    expect(await offered.nth(1).getAttribute('aria-pressed')).toBe('true')
    await offered.first().click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/#\/s\//)
    expect((await stello.client.roots({ agent: name })).map(({ profile }) => profile)).toEqual(['reader'])
  })

  it('answers an approval with edited arguments, which it checks first', async () => {
    const { name, removed } = await agent()
    await asking('remove', 'edited', name)
    const { url } = await site()
    const { page } = await browser.open(`${url}/#/inbox`)
    const shown = card(page, 'edited')
    await shown.getByRole('button', { name: 'Edit arguments' }).click()
    await shown.getByLabel('Arguments, as JSON').fill('{"path": ')
    await shown.getByRole('alert').waitFor()
    expect(await shown.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    await shown.getByLabel('Arguments, as JSON').fill('{"path": "b.txt"}')
    await shown.getByRole('button', { name: 'Approve' }).click()
    await shown.waitFor({ state: 'detached' })
    await expect.poll(() => removed).toEqual(['b.txt'])
  })

  it('shows what an answer is refused for', async () => {
    const { name } = await agent()
    await asking('remove', 'refused', name)
    const { url } = await site()
    const { page } = await browser.open(`${url}/#/inbox`)
    const shown = card(page, 'refused')
    await page.route('**/answers/**', (route) =>
      route.fulfill({ status: 400, json: { error: { code: 'INVALID_ARGUMENT', message: 'no', hint: 'try this' } } }),
    )
    await shown.getByRole('button', { name: 'Approve' }).click()
    const notice = page.getByRole('alert')
    await expect.poll(() => notice.textContent()).toMatch(/INVALID_ARGUMENT.*no.*try this/)
    expect(await shown.isVisible()).toBe(true)
  })

  it('goes on with a paused session', async () => {
    const { name } = await agent()
    const session = await stello.client.createSession({ agent: name, label: 'at lunch' })
    await session.pause('lunch')
    const { url } = await site()
    const { page } = await browser.open(`${url}/#/inbox`)
    await card(page, 'lunch').getByRole('button', { name: 'Resume', exact: true }).click()
    await expect.poll(async () => (await session.state()).state).toBe('idle')
    await card(page, 'lunch').waitFor({ state: 'detached' })
  })

  it('shows what models and tools say as text, and answers them', async () => {
    const { name, regions } = await agent()
    await asking('book', `${HOSTILE} ${EVIL_LINK}`, name)
    const { url } = await site()
    const { page, errors } = await browser.open(url)
    await row(page, '<script>').waitFor()
    await page.keyboard.press('i')
    const shown = card(page, 'Which region')
    expect(await shown.textContent()).toContain(`${HOSTILE} [here](${EVIL_LINK})`)
    expect(await page.locator('img, [onerror], a[href^="javascript" i]').count()).toBe(0)
    const links = await shown.locator('.message a').evaluateAll((all) => all.map((a) => [a.href, a.rel].join(' ')))
    expect(links).toEqual(['https://example.com/regions noreferrer noopener'])
    await shown.getByRole('radio', { name: 'US' }).check()
    await shown.getByRole('button', { name: 'Answer' }).click()
    await expect.poll(() => regions).toEqual(['US'])
    expect(await hurt(page)).toBeUndefined()
    expect(errors).toEqual([])
  })

  it.each(['dark', 'light'] as const)('has no serious fault that axe knows, in %s', async (colorScheme) => {
    const { name } = await agent()
    await asking('remove', `may it, ${colorScheme}?`, name)
    await asking('book', 'where?', name)
    const rule = { scope: 'agent', owner: name, rule: 'Bash(ls)', sessionId: 's', at: new Date().toISOString() }
    const { url } = await site()
    const { page } = await browser.open(url, { colorScheme, reducedMotion: 'reduce' })
    await row(page, `may it, ${colorScheme}?`).waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await expectNoFaults(page)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.goto(`${url}/#/inbox`)
    const shown = card(page, `may it, ${colorScheme}?`)
    await shown.getByRole('button', { name: 'Edit arguments' }).click()
    await shown.getByLabel('Arguments, as JSON').fill('{')
    await expectNoFaults(page)
    await page.goto(`${url}/#/new`)
    await page.getByRole('radio', { name }).waitFor()
    await expectNoFaults(page)
    await page.route('**/api/permissions', (route) => route.fulfill({ json: [rule] }))
    await page.goto(`${url}/#/permissions`)
    await page.getByRole('button', { name: 'Remove Bash(ls)' }).waitFor()
    await expectNoFaults(page)
    await page.goto(`${url}/#/search?q=nothing-says-this`)
    await page.getByRole('heading', { name: 'Search' }).waitFor()
    await expectNoFaults(page)
  })

  it('scrolls through 500 sessions with only those on the screen in the document', async () => {
    for (let n = 0; n < 500; n++) {
      const { config, ...row } = newSessionRow()
      await createSession(stello.db, { ...row, config: { ...config, agent: 'many', label: `number ${n}` } })
    }
    const { url } = await site()
    const { page } = await browser.open(url)
    await row(page, 'number 499').waitFor()
    const inDocument = (): Promise<number> => page.locator('.roots li').count()
    expect(await inDocument()).toBeLessThan(80)
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 100_000)
        return row(page, 'number 0').count()
      })
      .toBe(1)
    expect(await inDocument()).toBeLessThan(80)
  })

  it('asks for the token that the server wants, and takes it out of the address', async () => {
    const { url } = await site({ token: 'secret-word' })
    const { page } = await browser.open(url)
    await page.getByLabel('Token').waitFor()
    const opened = await browser.open(`${url}/#token=secret-word`)
    await opened.page.getByText('New session').waitFor()
    await expect.poll(() => opened.page.url()).toBe(`${url}/#/`)
    await page.getByLabel('Token').fill('secret-word')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('New session').waitFor()
  })

  it('says that the server is away, and goes on when it is back', async () => {
    const first = await site()
    const { page } = await browser.open(first.url)
    const badge = page.locator('.link-state')
    await expect.poll(() => badge.textContent()).toBe('connected')
    await first.stop()
    await expect.poll(() => badge.textContent()).toBe('server away')
    await site({ port: first.port })
    await expect.poll(() => badge.textContent()).toBe('connected')
  })
})
