/** One session in the page: a real Chromium, the real server, workers and scripted providers. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { SessionHandle } from '../../src/client/index.ts'
import { serveHttp, type HttpServer } from '../../src/http/serve-http.ts'
import { replyBy, scriptedModel, startFakeOpenAI } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { builtPage } from '../support/built-page.ts'
import { startDoors, startWorkerProcess } from '../support/crashing.ts'
import { createGate } from '../support/gate.ts'
import { expectNoFaults, usePageBrowser } from '../support/page-browser.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'
import { callPieces, streamingModel, type StreamingModel } from '../support/streaming-model.ts'
import { startProxyBefore } from '../support/tcp-proxy.ts'

const stello = useStello()
const browser = usePageBrowser()
let servers: HttpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function site(): Promise<string> {
  const server = await serveHttp({ stello: stello.client, page: await builtPage() })
  servers = [...servers, server]
  return server.url
}

const place = (url: string, { id }: { id: string }): string => `${url}/#/s/${id}`
const transcript = (page: Page) => page.getByRole('log', { name: 'Transcript' })
const card = (page: Page, name: string) => page.locator('.tool', { hasText: name })
/** The whole text of the transcript, as one line. */
const said = async (page: Page): Promise<string> => (await transcript(page).innerText()).replaceAll(/\s+/g, ' ')
const times = (text: string, part: string): number => text.split(part).length - 1

/** Its model says one word at a time and calls a tool. The test lets each go on. */
async function streaming(): Promise<{
  session: SessionHandle
  llm: StreamingModel
  door: ReturnType<typeof createGate>
}> {
  const door = createGate()
  const look = tool('look', 'Looks', z.object({ at: z.string() }), async ({ at }) => {
    await door.pass()
    return `saw ${at}`
  })
  const pieces = ['Alpha ', 'beta ', 'gamma.'].map((text) => ({ type: 'text' as const, text }))
  const llm = streamingModel([...pieces, ...callPieces('look', ['{"at":"the s', 'ky"}'])])
  return { session: await stello.session({ llm, capabilities: { tools: [look] } }), llm, door }
}

const openGates = ({ gates }: StreamingModel, upTo: number): void => gates.slice(0, upTo).forEach((gate) => gate.open())

describe('a session in the page', () => {
  it('is written to, and shows text and a call as they stream, each once', async () => {
    const { session, llm, door } = await streaming()
    const { page, errors } = await browser.open(place(await site(), session))
    await page.getByLabel('Message', { exact: true }).fill('go')
    await page.keyboard.press('Enter')
    openGates(llm, 1)
    await expect.poll(() => said(page)).toContain('Alpha beta')
    expect(await said(page)).not.toContain('gamma')
    openGates(llm, 4)
    await expect.poll(() => card(page, 'look').textContent()).toContain('the s')
    llm.open()
    await expect.poll(() => card(page, 'look').getAttribute('aria-label')).toBe('look: running')
    door.open()
    await expect.poll(() => said(page)).toMatch(/read saw the sky[^]*Turn 1 · \d+ in, \d+ out/)
    expect(await card(page, 'look').getAttribute('aria-label')).toBe('look: done')
    const text = await said(page)
    expect([times(text, 'Alpha beta gamma.'), times(text, 'You #1 go'), times(text, 'look')]).toEqual([1, 1, 1])
    expect(errors).toEqual([])
  })

  it('catches up after its connection was cut, without a gap and with nothing twice', async () => {
    const { session, llm, door } = await streaming()
    const { proxy, url } = await startProxyBefore(await site())
    onTestFinished(() => proxy.close())
    const { page } = await browser.open(place(url.replace(/\/$/, ''), session))
    await session.send('go')
    openGates(llm, 1)
    await expect.poll(() => said(page)).toContain('Alpha beta')
    proxy.refuse(true)
    proxy.cut()
    await expect.poll(() => page.locator('.link-state').textContent()).toBe('server away')
    openGates(llm, 2)
    proxy.refuse(false)
    await expect.poll(() => said(page)).toContain('Alpha beta gamma.')
    proxy.refuse(true)
    proxy.cut()
    llm.open()
    door.open()
    await eventOf(session, 'turn.completed')
    proxy.refuse(false)
    await expect.poll(() => said(page)).toContain('Turn 1')
    const text = await said(page)
    expect(['Alpha beta gamma.', 'You #1 go', 'read saw the sky'].map((part) => times(text, part))).toEqual([1, 1, 1])
  })

  it('goes on when the connection is lost while a part of the page is loaded', async () => {
    const session = await stello.session({ llm: scriptedModel(replyBy([['hello', 'Hello **there**.']])) })
    await ask(session, 'hello')
    const { page } = await browser.open('about:blank')
    let lost = 0
    await page.route('**/markdown-*.js', (route) => (++lost < 3 ? route.abort() : route.continue()))
    await page.goto(place(await site(), session))
    await expect.poll(() => transcript(page).locator('strong').textContent()).toBe('there')
    expect(lost).toBe(3)
  })

  it('shows a fork in the tree as it opens, and pauses and resumes the whole tree', async () => {
    const fork = { name: 'stello_create_session', arguments: { label: 'the other half' } }
    const session = await stello.session({
      systemTools: true,
      llm: scriptedModel(
        replyBy([
          ['fork', { toolCalls: [fork] }],
          [({ role }) => role === 'tool', 'Forked.'],
        ]),
      ),
    })
    const { page } = await browser.open(place(await site(), session))
    await page.getByRole('heading', { name: 'main' }).waitFor()
    await ask(session, 'fork')
    const row = page.getByRole('treeitem', { name: /the other half/ })
    await expect.poll(() => row.textContent()).toContain('turn 1')
    await page.getByLabel('whole tree').check()
    await page.getByRole('button', { name: 'Pause' }).click()
    const states = async (): Promise<string[]> => {
      const tree = await session.tree()
      return [tree.state, ...tree.children.map(({ state }) => state)]
    }
    await expect.poll(states).toEqual(['paused', 'paused'])
    await expect.poll(() => row.textContent()).toContain('paused')
    await page.getByRole('group', { name: 'Session' }).getByRole('button', { name: 'Resume' }).click()
    await expect.poll(states).toEqual(['idle', 'idle'])
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: 'the other half' }).waitFor()
  })

  it('lets a person answer a question at the place where it holds the session up', async () => {
    const removed: string[] = []
    const remove = tool(
      'remove',
      'Removes',
      z.object({ path: z.string() }),
      ({ path }) => `removed ${removed.push(path)}`,
    )
    const session = await stello.session({
      permissions: {},
      llm: scriptedModel(
        replyBy([
          ['remove', { toolCalls: [{ name: 'remove', arguments: { path: 'a.txt' } }] }],
          [({ role }) => role === 'tool', 'Done.'],
        ]),
      ),
      capabilities: { tools: [remove] },
    })
    const { page } = await browser.open(place(await site(), session))
    await session.send('remove')
    const asks = page.getByRole('region', { name: 'What it waits for' })
    await asks.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => card(page, 'remove').getAttribute('aria-label')).toBe('remove: done')
    await asks.waitFor({ state: 'detached' })
    expect(removed).toEqual(['a.txt'])
  })

  it('goes on when the worker is killed, and says that another one has taken over', async () => {
    const call = { toolCalls: [{ name: 'look', arguments: { tag: '#1' } }] }
    const script = replyBy([
      ['look #1', call],
      [({ role }) => role === 'tool', 'All is seen.'],
    ])
    const [fake, doors] = await Promise.all([startFakeOpenAI({ script }), startDoors()])
    onTestFinished(async () => void (await Promise.all([fake.close(), doors.close()])))
    const agent = `killed-${process.pid}-${Date.now()}`
    const settings = { agent, ...stello.servers, modelUrl: fake.url, gateUrl: doors.url }
    const first = await startWorkerProcess(settings)
    onTestFinished(() => first.kill())
    const session = await stello.client.createSession({ agent, label: 'survivor' })
    const { page } = await browser.open(place(await site(), session))
    const held = doors.hold()
    await session.send('look #1')
    await doors.knocked(1)
    await expect.poll(() => card(page, 'look').getAttribute('aria-label')).toBe('look: running')
    await first.kill()
    const second = await startWorkerProcess(settings)
    onTestFinished(() => second.kill())
    await doors.knocked(2)
    await expect.poll(() => card(page, 'look').textContent()).toContain('taken over')
    held.open()
    await expect.poll(() => said(page)).toContain('All is seen.')
    expect(times(await said(page), 'All is seen.')).toBe(1)
    await expect.poll(() => said(page)).toMatch(/Worker \S+ was lost while look ran/)
    await page.getByRole('tab', { name: 'Time line' }).click()
    await page.getByText(/was lost at .* Taken over: look$/).waitFor()
    await page.getByRole('button', { name: /↻2 look/ }).waitFor()
  })

  it('draws who ran what and when, and where a worker was lost', async () => {
    const session = await stello.session({ llm: scriptedModel(replyBy([['hello', 'Hello.']])) })
    await ask(session, 'hello')
    const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString()
    const span = { sessionId: session.id, kind: 'tool', name: 'look', turn: 1, round: 0, callId: 'c', attempt: 358 }
    const spans = [
      { ...span, worker: '1@a', begunAt: at(0), endedAt: at(4), outcome: 'taken_over' },
      { ...span, worker: '2@b', begunAt: at(5), endedAt: at(9), outcome: 'succeeded', attempt: 359 },
    ]
    const { page } = await browser.open('about:blank')
    await page.route('**/timeline', (route) => route.fulfill({ json: spans }))
    await page.goto(place(await site(), session))
    await page.getByRole('tab', { name: 'Time line' }).click()
    await page.getByText(/Worker 1@a was lost at .* Taken over: look$/).waitFor()
    const bars = page.locator('.lane .span')
    expect(await bars.evaluateAll((all) => all.map((bar) => bar.className.includes('taken_over')))).toEqual([
      true,
      false,
    ])
    await page.getByRole('button', { name: /↻2 look/ }).click()
    await expect.poll(() => page.locator('.bar-details').textContent()).toMatch(/worker2@b/)
    await expectNoFaults(page)
  })

  it('never makes HTML, script or a dangerous link of what models and tools say', async () => {
    const evil = [
      '<script>window.hurt = 1</script><img src=x onerror="window.hurt = 2">',
      '[click](javascript:window.hurt=3) <javascript:window.hurt=4> ![pixel](https://example.com/spy.png)',
      '[data](data:text/html,<script>window.hurt=5</script>) [good](https://example.com/)',
    ].join('\n\n')
    const look = tool('look', 'Looks', z.object({}), () => evil)
    const session = await stello.session({
      llm: scriptedModel(
        replyBy([
          ['look', { content: evil, toolCalls: [{ name: 'look' }] }],
          [({ role }) => role === 'tool', evil],
        ]),
      ),
      capabilities: { tools: [look] },
    })
    await ask(session, 'look')
    const { page, errors } = await browser.open(place(await site(), session))
    await expect.poll(() => transcript(page).getByRole('link', { name: 'good' }).count()).toBe(2)
    await card(page, 'look').getByRole('button').first().click()
    await expect.poll(() => card(page, 'look').textContent()).toContain('<script>window.hurt = 1</script>')
    for (const link of await transcript(page).getByText('click').all()) await link.click()
    const links = transcript(page).locator('a')
    expect(new Set(await links.evaluateAll((all) => all.map((a) => `${a.href} ${a.rel}`)))).toEqual(
      new Set(['https://example.com/ noopener noreferrer nofollow']),
    )
    expect(await transcript(page).locator('img, script, iframe, [onerror]').count()).toBe(0)
    expect(await page.evaluate(() => (globalThis as { hurt?: unknown }).hurt)).toBeUndefined()
    expect(errors).toEqual([])
  })

  it.each(['dark', 'light'] as const)('has no serious fault that axe finds, in %s', async (colorScheme) => {
    const { session, llm, door } = await streaming()
    llm.open()
    door.open()
    await ask(session, 'go')
    await session.fork({ label: 'below' })
    await session.pause('lunch')
    const { page } = await browser.open(place(await site(), session), { colorScheme, reducedMotion: 'reduce' })
    await expect.poll(() => said(page)).toContain('Turn 1')
    await card(page, 'look').getByRole('button').first().click()
    await expectNoFaults(page)
    await page.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByRole('dialog').waitFor()
    await expectNoFaults(page)
    await page.keyboard.press('Escape')
    for (const name of ['Tree', 'Stats']) {
      await page.getByRole('tab', { name }).click()
      await page.getByRole(name === 'Tree' ? 'tree' : 'tabpanel').waitFor()
      await expectNoFaults(page)
    }
  })
})
