/** Servers that take a request for a page and never answer. The page that asked stays, and can be read and used. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { browser } from '../../../../src/capabilities/index.ts'
import { until } from '../../../support/until.ts'
import { call, useSite } from '../sites.ts'
import { testContext } from '../test-context.ts'

const SHOWN = /\nNear\n[^]*button "Go"[^]*button "Count"/
const COUNT = `<button onclick="this.innerText += '!'">Count</button>`

/** @param body of the page, before a button that counts its clicks */
async function useBrowser(body: string) {
  const site = await useSite(({ url }, response) => {
    if (url === '/never') return
    response.setHeader('content-type', 'text/html').end(`<title>Near</title>${body}${COUNT}`)
  })
  const pack = browser({ allow: [site.host], pageTimeout: '1s' })
  onTestFinished(() => pack.close?.())
  const { values } = testContext()
  const use = (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
    call(pack.tools, name, args, { values, ...(signal && { signal }) })
  const { content } = await use('BrowserOpen', { url: `http://${site.host}/` })
  return {
    never: `http://${site.host}/never`,
    givenUp: `A page of http://${site.host} did not come in time, and was given up.\n`,
    refOf: (label: string) => new RegExp(`"${label}"[^\\n]*\\[ref=(\\w+)\\]`).exec(content)?.[1],
    call: use,
    /** Cancels the call when the site has been asked for the page. */
    async cancelled(name: string, args: Record<string, unknown>) {
      const cancelling = new AbortController()
      const asked = () => site.asked.filter(({ path }) => path === '/never').length
      const before = asked()
      const calling = expect(use(name, args, cancelling.signal)).rejects.toThrow()
      await until('the page is asked for', async () => asked() > before)
      cancelling.abort()
      await calling
    },
    opened: content,
  }
}

const button = (does: string): string => `<button onclick="${does}">Go</button>`

describe('after a click, the page stays, and the model reads what was given up', () => {
  it.each([
    ['that leads there', "location = '/never'"],
    [
      'with steps within the page meanwhile',
      "location = '/never'; setTimeout(() => history.pushState({}, '', '#x'), 50)",
    ],
    ['in an empty window, which is closed', "window.open('about:blank').location = '/never'"],
  ])('%s', async (_how, does) => {
    const { call, refOf, givenUp } = await useBrowser(button(does))
    const clicked = await call('BrowserClick', { ref: refOf('Go') })
    expect(clicked).toMatchObject({ isError: false, content: expect.stringMatching(SHOWN) })
    const next = await call('BrowserClick', { ref: refOf('Count') })
    expect(clicked.content + next.content).toContain(givenUp)
    expect(next.content).toContain('button "Count!"')
  })
})

it('a click that could not be done is an error, although the page leads elsewhere meanwhile', async () => {
  const cover = `<div style="position: fixed; inset: 0" onclick="location = '/never'">Cover</div>`
  const { call, refOf } = await useBrowser(`${button('document.title = 1')}${cover}`)
  const clicked = await call('BrowserClick', { ref: refOf('Go') })
  expect(clicked).toMatchObject({ isError: true, content: expect.stringContaining('Timeout') })
})

it('a text that leads there before it is submitted is submitted where it was typed', async () => {
  const form = `<form onsubmit="document.title = 'Sent'; return false"><input aria-label="Go" oninput="location = '/never'"></form>`
  const { call, refOf, givenUp } = await useBrowser(form)
  const typed = await call('BrowserType', { ref: refOf('Go'), text: 'x', submit: true })
  expect(typed).toMatchObject({ isError: false, content: expect.stringContaining('\nSent\n') })
  expect(typed.content).toContain(givenUp)
})

it('is told by the next call after a click that was cancelled', async () => {
  const { call, cancelled, refOf, givenUp } = await useBrowser(button("location = '/never'"))
  await cancelled('BrowserClick', { ref: refOf('Go') })
  expect((await call('BrowserRead')).content).toMatch(SHOWN)
  await cancelled('BrowserClick', { ref: refOf('Go') })
  expect((await call('BrowserScreenshot')).content).toContain(givenUp)
})

it('is an error of BrowserOpen, and the page before stays', async () => {
  const { call, cancelled, never, givenUp } = await useBrowser('')
  expect(await call('BrowserOpen', { url: never })).toMatchObject({ isError: true, content: givenUp.trim() })
  await cancelled('BrowserOpen', { url: never })
  expect((await call('BrowserRead')).content).toMatch(/^<web-content from="[^"]*\/">\nNear\n/)
})

it('is told where a page leads there by itself', async () => {
  const body = `<script>addEventListener('load', () => setTimeout(() => (location = '/never'), 1))</script>`
  const { call, opened, givenUp } = await useBrowser(body)
  const { content } = await call('BrowserRead')
  expect(content).toContain('button "Count"')
  expect(opened + content).toContain(givenUp)
})

it.each([
  ['keeps its process busy for ever', button("location = '/never'; setTimeout(() => { for (;;); }, 50)")],
  ['is never whole', button("document.open(); location = '/never'")],
])('a page that %s ends each call with an error', async (_what, body) => {
  const { call, refOf } = await useBrowser(body)
  expect(await call('BrowserClick', { ref: refOf('Go') })).toMatchObject({ isError: true })
  expect(await call('BrowserClick', { ref: refOf('Count') })).toMatchObject({ isError: true })
})
