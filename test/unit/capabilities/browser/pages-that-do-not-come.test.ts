/** Servers that take a request for a page and never answer. The page that asked stays, and can be read and used. */
import { expect, it, onTestFinished } from 'vitest'
import { browser } from '../../../../src/capabilities/index.ts'
import { call, useSite } from '../sites.ts'
import { testContext } from '../test-context.ts'

const SHOWN = /\nNear\n[^]*button "Go"[^]*button "Count"/

async function useBrowser(go = "location = '/never'") {
  const body = `<button onclick="${go}">Go</button><button onclick="this.innerText += '!'">Count</button>`
  const site = await useSite(({ url }, response) => {
    if (url === '/never') return
    response.setHeader('content-type', 'text/html').end(`<title>Near</title>${body}`)
  })
  const pack = browser({ allow: [site.host] })
  onTestFinished(() => pack.close?.())
  const { values } = testContext()
  const { content } = await call(pack.tools, 'BrowserOpen', { url: `http://${site.host}/` }, { values })
  const refOf = (label: string) => new RegExp(`"${label}"[^\\n]*\\[ref=(\\w+)\\]`).exec(content)?.[1]
  return {
    never: `http://${site.host}/never`,
    refOf,
    call: (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      call(pack.tools, name, args, { values, ...(signal && { signal }) }),
  }
}

it('after a click', async () => {
  const { call, refOf, never } = await useBrowser()
  const clicked = await call('BrowserClick', { ref: refOf('Go') })
  expect(clicked).toMatchObject({ isError: false, content: expect.stringMatching(SHOWN) })
  expect(clicked.content).toContain(`The next page, ${never}, has not come within 10 s, and is given up.\n`)
  expect((await call('BrowserClick', { ref: refOf('Count') })).content).toContain('button "Count!"')
})

it('after a click that was cancelled', async () => {
  const { call, refOf, never } = await useBrowser()
  await expect(call('BrowserClick', { ref: refOf('Go') }, AbortSignal.timeout(1000))).rejects.toThrow()
  const { content } = await call('BrowserRead')
  expect(content).toContain(`The next page, ${never}, has not come`)
})

it('after it was opened', async () => {
  const { call, never } = await useBrowser()
  await expect(call('BrowserOpen', { url: never }, AbortSignal.timeout(1000))).rejects.toThrow()
  expect((await call('BrowserRead')).content).toMatch(/^<web-content from="[^"]*\/">\nNear\n/)
})

it('in a window of its own', async () => {
  const { call, refOf } = await useBrowser("window.open('/never')")
  const clicked = await call('BrowserClick', { ref: refOf('Go') })
  expect(clicked).toMatchObject({ isError: false, content: expect.stringMatching(SHOWN) })
  expect((await call('BrowserClick', { ref: refOf('Count') })).content).toContain('button "Count!"')
})
