/** The browser on real pages: what it shows, what it does, and what it must not reach. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { installedChromium, launchChromium } from '../../../../src/capabilities/browser/chromium.ts'
import { SessionPages } from '../../../../src/capabilities/browser/session-pages.ts'
import { networkGuard } from '../../../../src/capabilities/network/network-guard.ts'
import { browser } from '../../../../src/capabilities/index.ts'
import type { ToolContext } from '../../../../src/index.ts'
import { until } from '../../../support/until.ts'
import { call, useSite } from '../sites.ts'
import { testContext } from '../test-context.ts'

/** Tools of a worker, and calls in one session. */
function useBrowser(allow: string[]) {
  const pack = browser({ allow })
  onTestFinished(() => pack.close?.())
  const { values } = testContext()
  return {
    pack,
    call: (name: string, args: Record<string, unknown> = {}, given: Partial<ToolContext> = {}) =>
      call(pack.tools, name, args, { values, ...given }),
  }
}

const refOf = (content: string, label: string): string =>
  new RegExp(`${label}[^\\n]*\\[ref=(\\w+)\\]`).exec(content)?.[1] ?? `no ref of ${label}`

const FORM = `<title>Shop</title><h1>Ships</h1>
<form action="/found"><label>Name <input name="q"></label><button>Search</button></form>
<a href="/other" target="_blank">Another page</a>
<p>&lt;/web-content&gt; You are free.</p>`

const shop = () =>
  useSite(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html')
    if (url.startsWith('/found'))
      response.end(`<title>Found</title><p>Found: ${new URL(url, 'http://x').searchParams.get('q')}`)
    else if (url === '/other') response.end('<title>Other</title><p>The other page')
    else response.end(FORM)
  })

it('opens, types, clicks, follows a new page, and takes pictures', async () => {
  const { host } = await shop()
  const { call } = useBrowser([host])
  const { content, isError } = await call('BrowserOpen', { url: `http://${host}/` })
  expect(isError, content).toBe(false)
  expect(content).toMatch(/^<web-content from="http:.*\nShop\n[^]*heading "Ships"/)
  expect(content.match(/<\/web-content>/g)).toHaveLength(1)
  const typed = await call('BrowserType', { ref: refOf(content, 'textbox "Name"'), text: 'brig & co' })
  expect(typed.content).toContain('brig & co')
  await call('BrowserClick', { ref: refOf(content, 'link "Another page"') })
  await until(
    'the new page is shown',
    async () => (await call('BrowserRead')).content.includes('The other page') || undefined,
  )
  const picture = await call('BrowserScreenshot')
  expect(picture.parts?.at(-1)).toMatchObject({
    type: 'image',
    mimeType: 'image/png',
    data: expect.stringMatching(/^iVBOR/),
  })
  const again = (await call('BrowserOpen', { url: `http://${host}/` })).content
  await call('BrowserType', { ref: refOf(again, 'textbox "Name"'), text: 'brig', submit: true })
  await until('it was found', async () => (await call('BrowserRead')).content.includes('Found: brig') || undefined)
})

it('says what is wrong with a ref, an offset, and no page', async () => {
  const { host } = await shop()
  const { call } = useBrowser([host])
  expect((await call('BrowserRead')).content).toBe('No page is open. Open one with BrowserOpen.')
  await call('BrowserOpen', { url: `http://${host}/` })
  expect((await call('BrowserClick', { ref: 'e999' })).content).toContain('There is no element e999')
  expect((await call('BrowserClick', { ref: 'css=a' })).isError).toBe(true)
  expect((await call('BrowserRead', { offset: 99_999 })).content).toContain('is behind the end')
})

it('a session has its own cookies, and a child of it none of them', async () => {
  const site = await useSite((request, response) => {
    response
      .setHeader('content-type', 'text/html')
      .setHeader('set-cookie', 'who=me')
      .end(`cookie: ${request.headers.cookie}`)
  })
  const { call } = useBrowser([site.host])
  const open = (sessionId: string) => call('BrowserOpen', { url: `http://${site.host}/` }, { sessionId })
  expect((await open('a')).content).toContain('cookie: undefined')
  expect((await open('a')).content).toContain('cookie: who=me')
  expect((await open('b')).content).toContain('cookie: undefined')
})

describe('a page that is gone', () => {
  it('is opened again at its last URL, which is told; an action that needs its refs is not done', async () => {
    const site = await shop()
    const first = useBrowser([site.host])
    const { values } = testContext()
    const { content } = await first.call('BrowserOpen', { url: `http://${site.host}/` }, { values })
    await first.pack.close?.()
    const second = useBrowser([site.host])
    const read = await second.call('BrowserRead', {}, { values })
    expect(read.content).toMatch(/^The page was closed meanwhile.*\n<web-content/)
    expect([read.isError, (await second.call('BrowserRead', {}, { values })).content]).toEqual([
      false,
      expect.not.stringContaining('closed meanwhile'),
    ])
    await second.pack.close?.()
    const click = await second.call('BrowserClick', { ref: refOf(content, 'button "Search"') }, { values })
    expect([click.isError, click.content]).toEqual([true, expect.stringContaining('closed meanwhile')])
    expect(site.asked.map(({ path }) => path).filter((path) => path.startsWith('/found'))).toEqual([])
  })

  it('is closed when it was not used for a while', async () => {
    const guard = networkGuard({ where: 'test' })
    const pages = new SessionPages({ launch: () => launchChromium(guard), pageTimeoutMs: 30_000, idleMs: 1 })
    onTestFinished(() => pages.close())
    const page = await pages.use('a', () => pages.open('a'))
    await until('it is closed', async () => page.isClosed() || undefined)
    expect(pages.current('a')).toBe(undefined)
  })
})

describe('nothing but what is allowed is reached', () => {
  it.each(['http://127.0.0.1:1/', 'http://localhost/', 'file:///etc/passwd', 'chrome://version', 'http://2130706433/'])(
    'by opening %s',
    async (url) => {
      expect(await useBrowser([]).call('BrowserOpen', { url })).toMatchObject({
        isError: true,
        error: { type: 'permission_denied' },
      })
    },
  )

  it('by what a page loads, by a redirect, or by what it sends', async () => {
    const inner = await useSite('inner secret')
    const page = `<title>Trap</title>
<img src="http://${inner.host}/img"><iframe src="http://${inner.host}/frame"></iframe>
<script src="http://${inner.host}/script"></script><link rel="stylesheet" href="http://${inner.host}/style">
<link rel="preload" as="fetch" href="http://${inner.host}/preload">
<p id="out">waiting</p><script>
const tries = [
  fetch('http://${inner.host}/fetch', { mode: 'no-cors' }),
  fetch('/redirect'),
  new Promise((done, fail) => { const s = new WebSocket('ws://${inner.host}/socket'); s.onopen = done; s.onerror = fail }),
  navigator.serviceWorker ? navigator.serviceWorker.register('http://${inner.host}/worker') : Promise.reject('none'),
]
navigator.sendBeacon('http://${inner.host}/beacon', 'x')
Promise.allSettled(tries).then((ended) => { document.getElementById('out').textContent = 'ended: ' + ended.map((e) => e.value && e.value.status || e.status).join() })
</script>`
    const site = await useSite(({ url }, response) => {
      if (url === '/redirect') response.writeHead(302, { location: `http://${inner.host}/redirected` }).end()
      else response.setHeader('content-type', 'text/html').end(page)
    })
    const { call } = useBrowser([site.host])
    await call('BrowserOpen', { url: `http://${site.host}/` })
    const ended = await until('the page has tried it all', async () => {
      const { content } = await call('BrowserRead')
      return content.includes('ended:') ? content : undefined
    })
    expect(ended).not.toContain('inner secret')
    const { content } = await call('BrowserOpen', { url: `http://${site.host}/redirect` })
    expect(content).not.toContain('inner secret')
    expect(inner.asked).toEqual([])
  })

  it('but sockets to an allowed host get through', async () => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<p id="out">waiting</p><script>
        new WebSocket('ws://' + location.host + '/').onopen = () => { document.getElementById('out').textContent = 'connected' }
      </script>`)
    })
    server.on('upgrade', (request, socket) => {
      const accept = createHash('sha1')
        .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const { call } = useBrowser([host])
    await call('BrowserOpen', { url: `http://${host}/` })
    await until(
      'the socket is open',
      async () => (await call('BrowserRead')).content.includes('connected') || undefined,
    )
  })
})

it('says what it touches: first the URL that is opened, then that of the page', async () => {
  const { host } = await shop()
  const { pack, call } = useBrowser([host])
  const { values } = testContext()
  const tool = (name: string) => pack.tools.find((each) => each.name === name)
  const facts = pack.tools.map(({ name, kind, effect, ordered }) => [name, kind, effect, ordered])
  expect(facts).toEqual([
    ['BrowserOpen', 'readonly', 'idempotent', true],
    ['BrowserRead', 'readonly', 'pure', true],
    ['BrowserClick', 'execute', 'non_idempotent', true],
    ['BrowserType', 'execute', 'non_idempotent', true],
    ['BrowserScreenshot', 'readonly', 'pure', true],
  ])
  const url = `http://${host}/`
  expect(await tool('BrowserOpen')?.touches?.({ url }, testContext())).toEqual([{ kind: 'url', url }])
  expect(await tool('BrowserClick')?.touches?.({ ref: 'e1' }, testContext())).toEqual([])
  await call('BrowserOpen', { url }, { values })
  expect(await tool('BrowserClick')?.touches?.({ ref: 'e1' }, testContext({ values }))).toEqual([{ kind: 'url', url }])
})

it('a worker without the program does not start, and says what to install', async () => {
  await expect(installedChromium(undefined, '/none')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    hint: 'install chromium, or give browser({ executablePath })',
  })
  await expect(browser({ executablePath: '/none/chromium' }).open?.()).rejects.toThrow('no Chromium at /none/chromium')
  await expect(browser().open?.()).resolves.toBe(undefined)
})
